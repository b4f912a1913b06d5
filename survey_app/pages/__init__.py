"""The pages and the API, one blueprint for each noun."""
