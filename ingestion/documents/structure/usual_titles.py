"""Titles that parts of papers have in every field.

Here: the words. Not here: whether a line is a heading.
"""

from ingestion.comparison import title_key


def is_reference_title(text: str) -> bool:
    """What reference lists are headed with."""
    return title_key(text) in _REFERENCES


def is_matter(text: str) -> bool:
    """Front or back matter: abstract, references, acknowledgements; without a number even among numbered sections."""
    return title_key(text) in _MATTER


def is_usual_title(text: str) -> bool:
    """Front and back matter, and the usual sections between."""
    return title_key(text) in _USUAL


def _titles(lines: str) -> frozenset[str]:
    return frozenset(title_key(title) for line in lines.splitlines() for title in line.split(",") if title.strip())


_REFERENCES = _titles("""
References, Reference, Bibliography, Literature, Literature Cited, Works Cited, References Cited, Notes and References
References and Notes, Bibliography and References, List of References, Literatur, Literaturverzeichnis
""")
_MATTER = _REFERENCES | _titles("""
Abstract, Summary, Keywords, Index Terms, Nomenclature, Zusammenfassung
Acknowledgement, Acknowledgements, Acknowledgment, Acknowledgments, Danksagung, Funding
Appendix, Appendices, Supplementary Material, Supplementary Materials, Supplementary Information, Additional Information
Author Contributions, Authors' Contributions, Contributions, Data Availability, Data Availability Statement
Code Availability, Conflict of Interest, Conflicts of Interest, Competing Interests
Ethics Statement, Ethical Statement, Ethical Considerations, Ethics and Broader Impact, Broader Impact, Broader Impacts
Impact Statement, Reproducibility Statement, Limitations
""")
_USUAL = _MATTER | _titles("""
Introduction, Motivation, Background, Overview, Preliminaries, Notation, Problem Statement
Related Work, Related Works, Data, Dataset, Datasets, Model, Method, Methods, Methodology, Materials and Methods, Approach
Setup, Experiment, Experiments, Experimental Setup, Experimental Results, Implementation, Implementation Details
Evaluation, Analysis, Result, Results, Results and Discussion, Discussion, Discussion and Conclusion
Conclusion, Conclusions, Conclusion and Future Work, Conclusions and Future Work, Future Work
Einleitung, Methoden, Ergebnisse, Diskussion
""")
