"""Certificates in bulk: a folder of them as one table, a row for each, verified on the way."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tpc_core.certificate import Certificate
from tpc_core.errors import InvalidFile, InvalidValue, MissingDependency, TpcError
from tpc_core.machinery.atomic import write_atomically
from tpc_core.verify import verify


def certificate_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each certificate in a folder; what does not follow from its own evidence says so."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise InvalidFile(f"there are no certificates in {folder}")
    for path in files:
        try:
            certificate = Certificate.load(path)
            verified, problem = verify(certificate), ""
        except TpcError as error:
            yield {"file": path.name, "valid": False, "problem": str(error)}
            continue
        question, model = certificate.question, certificate.model
        yield {
            "file": path.name,
            "valid": True,
            "problem": problem,
            "verdict": verified.verdict,
            "on_trust": verified.on_trust,
            "object": question.object,
            "label": certificate.cloud.label or "",
            "prediction": certificate.prediction or "",
            "points": question.points,
            "transform": question.transform,
            "radius": question.radius_text(),
            "proof": "certain" if certificate.certain is not None else "smoothed",
            "alpha": certificate.alpha,
            "samples": certificate.samples,
            "model": model.name,
            "model_digest": model.digest,
            "smoothing": json.dumps(model.smoothing),
            "cloud_digest": certificate.cloud.digest,
            "sentence": certificate.sentence,
            "checksum": certificate.checksum,
        }


def write_certificates(folder: Path, path: Path) -> list[dict[str, Any]]:
    """Write the table of a folder as .parquet or .csv; its rows."""
    rows = list(certificate_rows(folder))
    columns = [str(name) for name in max(rows, key=lambda row: len(row))]
    full = [{name: row.get(name) for name in columns} for row in rows]
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(full)
        write_atomically(path, text.getvalue().encode())
    elif path.suffix == ".parquet":
        try:
            pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError as error:
            raise MissingDependency("Parquet tables need pyarrow: pip install pyarrow") from error
        sink = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(full), sink)
        write_atomically(path, sink.getvalue())
    else:
        raise InvalidValue(f"{path.name}: a table is written as .parquet or .csv")
    return rows
