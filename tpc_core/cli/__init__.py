"""`tpc`: the library from the command line. Exit 0: done; 1: not certified; 2: bad input, in one line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from tpc_core.version import VERSION

_COMMANDS = {
    "app": "tpc_core.cli.app:app",
    "attack": "tpc_core.cli.attack:attack",
    "certify": "tpc_core.cli.certify:certify",
    "data": "tpc_core.cli.data:data",
    "evaluate": "tpc_core.cli.evaluate:evaluate",
    "explain": "tpc_core.cli.explain:explain",
    "export": "tpc_core.cli.export:export",
    "models": "tpc_core.cli.models:models",
    "redteam": "tpc_core.cli.redteam:redteam",
    "report": "tpc_core.cli.report:report",
    "train": "tpc_core.cli.train:train",
    "transforms": "tpc_core.cli.transforms:transforms",
    "verify": "tpc_core.cli.verify:verify",
}
"""Each command is imported only when it is called: torch takes seconds to load, --help should not."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].split(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _SUMMARIES[name]) for name in self.list_commands(ctx)])


_SUMMARIES = {
    "app": "Open the explorer in a browser.",
    "attack": "Look for a transform that changes the prediction.",
    "certify": "Certify an object against every transform within a radius.",
    "data": "Data sets, the built-in gallery, and single files.",
    "evaluate": "Certified accuracy over a data set.",
    "explain": "Why a certificate failed, and what would settle it.",
    "export": "Models, certificates and runs in the formats of other programs.",
    "models": "The shipped checkpoints and your own models.",
    "redteam": "Make many certificates and try to break every one.",
    "report": "Tables and curves of evaluations, beside the paper's.",
    "train": "Train a checkpoint from its recipe.",
    "transforms": "The transforms, their parameters and their units.",
    "verify": "Check a certificate file; --replay casts its votes again, --fresh others.",
}


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="tpc")
def root() -> None:
    """Certified robustness of 3D point-cloud models."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; every error that a user can cause is one line and exit code 2."""
    from tpc_core.errors import InvalidValue, TpcError, one_line

    try:
        if any("\0" in argument for argument in arguments or ()):
            raise InvalidValue("an argument holds a NUL character")
        result = root.main(args=list(arguments) if arguments is not None else None, standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 2
    except click.UsageError as error:
        place = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        code = _complain(error.format_message().replace("\n", " ") + place)
    except click.ClickException as error:
        code = _complain(error.format_message())
    except click.exceptions.Exit as error:
        code = error.exit_code
    except TpcError as error:
        code = _complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        code = _complain("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:  # the disk is full, a folder is read-only, a device is gone
        code = _complain(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    except Exception as error:
        # Python's own exit code for an error that nobody foresaw is 1, which here means "not certified".
        if os.environ.get("TPC_STACK"):
            raise
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        code = _complain(f"something unforeseen: {one_line(reason, 400)} (TPC_STACK=1 shows where)")
    if arguments is None:
        sys.exit(code)
    return code


def _complain(message: str, code: int = 2) -> int:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return code
