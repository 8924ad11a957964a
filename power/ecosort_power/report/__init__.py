"""A stored result for people and programs: terminal, JSON, CSV, Markdown, HTML, figures."""
