"""The only code that writes or reads a run's folder."""

from luthier.store.checkpoint_folders import latest_checkpoint, prune_checkpoints
from luthier.store.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from luthier.store.choosing import chosen_checkpoint
from luthier.store.comparison import Comparison, compare
from luthier.store.durable import could_not_write, replace_file, sync_folder
from luthier.store.environment import Environment, here
from luthier.store.event_reader import read_events
from luthier.store.event_writer import EventWriter
from luthier.store.finding import open_run, runs
from luthier.store.output import make_place, write_picture
from luthier.store.result import Latency, Result, result_schema
from luthier.store.run import Run, create_run
from luthier.store.tfrecord import whole_length
from luthier.store.writer import writing

__all__ = [
    "Checkpoint",
    "Comparison",
    "Environment",
    "EventWriter",
    "Latency",
    "Result",
    "Run",
    "chosen_checkpoint",
    "compare",
    "could_not_write",
    "create_run",
    "here",
    "latest_checkpoint",
    "load_checkpoint",
    "make_place",
    "open_run",
    "prune_checkpoints",
    "read_events",
    "replace_file",
    "result_schema",
    "runs",
    "save_checkpoint",
    "sync_folder",
    "whole_length",
    "write_picture",
    "writing",
]
