"""What the pages share: colours, canvas components, charts, session state. Nothing else in `pll` imports Streamlit."""
