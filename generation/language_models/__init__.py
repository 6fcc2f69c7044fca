"""Language models: names and prices, limits, the ledger of calls, and the gateway through which all of them go."""
