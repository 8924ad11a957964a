"""The page: Starlette, Jinja2 and server-sent events; nothing comes from another host."""
