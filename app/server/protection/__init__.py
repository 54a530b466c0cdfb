"""What stands between the network and Streamlit: who may come in, with how much, and what the browser is told.

Each file is one layer around the server (app/main.py puts them on), by the way that Streamlit documents for it.
"""
