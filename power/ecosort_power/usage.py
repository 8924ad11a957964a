"""Says what is wrong with a command line, in one line; click would take four."""

from __future__ import annotations

import click


class Command(click.Command):
    """The list of commands shows its first sentence whole; click would cut it."""

    def get_short_help_str(self, limit: int = 45) -> str:
        return super().get_short_help_str(100 * limit)


class Group(click.Group):
    """Its commands are such."""

    command_class = Command


def asks_for_help(error: click.ClickException) -> bool:
    """A group of commands without one; click before 8.2 prints the help and has no such error."""
    return isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ()))


def usage_text(error: click.ClickException, hint: str = "") -> str:
    """Puts the command in front and, for want of better, where its options are listed: as `ecosort cluster` does."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    said = message[:1].lower() + message[1:]
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return said
    path = error.ctx.command_path
    command = path.partition(" ")[2]
    return f"{command}: {said}; {hint or f'see {path} --help'}".removeprefix(": ")
