"""A recipe, in full: what to train, on what, how, and what counts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from luthier.recipe.optimizers import Momentum, Optimizer
from luthier.recipe.ranges import Range
from luthier.recipe.schedules import Cosine, Schedule
from luthier.recipe.transforms import RandomCrop, RandomFlip, Transform

__all__ = [
    "Checkpoint",
    "Compress",
    "Data",
    "Model",
    "Normalize",
    "Recipe",
    "Record",
    "Score",
    "Start",
    "Stop",
    "Strategy",
]

Count = Annotated[int, Meta(ge=1)]
CountOrNone = Annotated[int, Meta(ge=0)]  # 0: not used
Positive = Annotated[float, Meta(gt=0)]
NonNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, lt=1)]
Name = Annotated[str, Meta(min_length=1)]


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the recipe: frozen, named fields only, no unknown ones."""


class Normalize(Section, frozen=True, kw_only=True):
    """(x/255 − mean) / std for each channel, done by the session on its own device."""

    mean: tuple[float, ...] = (0.4914, 0.4822, 0.4465)
    std: tuple[Positive, ...] = (0.2023, 0.1994, 0.2010)


class Data(Section, frozen=True, kw_only=True):
    """The images, and what is done to them before a step sees them."""

    name: Name = "cifar10"  # a source, or file.py:factory
    path: str = ""  # the folder, where it is not the source's own name below the data root
    batch_size: Count = 32  # a rank's share
    drop_remainder: bool = True  # in training; evaluation always sees every image
    validation: Share = 0.0
    num_classes: CountOrNone = 0  # of files that are not here, for measuring without them; 0: the files tell
    normalize: Normalize = field(default_factory=Normalize)
    train: tuple[Transform, ...] = (RandomCrop(), RandomFlip())
    eval: tuple[Transform, ...] = ()
    eval_limit: CountOrNone = 0  # evaluate the first so many images alone, 0 for all
    workers: CountOrNone = 0  # that decode image files; 0 for one a core
    on_error: Literal["stop", "skip"] = "stop"
    pipeline: Literal["luthier", "minddata"] = "luthier"


Initializer = Literal["default", "he-normal", "he-uniform", "xavier-uniform", "truncated-normal", "normal"]


class Model(Section, frozen=True, kw_only=True):
    """The network: one of the zoo's, or the user's own as file.py:factory."""

    name: Name = "lenet5"
    init: Initializer = "default"
    init_dense: Initializer | None = None  # for dense layers, where it is not `init`
    options: dict[str, Any] = {}


class Start(Section, frozen=True, kw_only=True):
    """Where the first weights come from, if not from the seed."""

    path: str = ""  # a run of either engine, or a .safetensors, .ckpt, .pt or .pth file
    checkpoint: Literal["last", "best"] | CountOrNone = "last"  # of a run, or the number of its step
    fresh: tuple[Name, ...] = ()  # layers that keep the seed's weights all the same
    sha256: str = ""  # of the weights: a run writes it down, and where it stands no others are taken


class Strategy(Section, frozen=True, kw_only=True):
    """How the weights are changed, and for how long."""

    epochs: Count = 50
    steps: CountOrNone = 0  # takes the place of epochs where above 0
    learning_rate: Positive = 0.01
    label_smoothing: Share = 0.0
    smoothing_over: Literal["all", "others"] = "all"  # all classes share it, as PyTorch has it, or the wrong ones
    mixup: NonNegative = 0.0  # the Beta distribution's parameter
    cutmix: NonNegative = 0.0
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    loss_scale: Positive | Literal["dynamic"] = 1.0
    clip_norm: NonNegative = 0.0  # the gradient's greatest global norm; 0 for none
    accumulate: Count = 1  # batches to a step
    sync_batch_norm: bool = False  # statistics over the images of all ranks
    allreduce_split: tuple[CountOrNone, ...] = ()  # the position, from 0, of the last parameter of each group
    teacher: str = ""  # a run of a larger network, whose answers are learned beside the labels
    teacher_checkpoint: Literal["last", "best"] | CountOrNone = "last"  # or the number of its step
    teacher_weight: Annotated[float, Meta(gt=0, le=1)] = 0.5  # its share of the loss; the labels have the rest
    teacher_temperature: Positive = 4.0  # what both networks' outputs are divided by before they are compared
    teacher_sha256: str = ""  # of its weights: a run writes it down, and where it stands no others are taken
    average_decay: Share = 0.0  # exponential moving average of the weights, used for evaluation where above 0
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 1
    optimizer: Optimizer = field(default_factory=Momentum)
    schedule: Schedule = field(default_factory=Cosine)


class Checkpoint(Section, frozen=True, kw_only=True):
    """When the whole state goes to disk, and how many of the last are kept besides the best."""

    every_epochs: CountOrNone = 1
    every_steps: CountOrNone = 0  # takes the place of every_epochs where above 0
    keep: Count = 5


class Record(Section, frozen=True, kw_only=True):
    """What goes into the event file."""

    every_steps: Count = 50
    evaluate_every_epochs: CountOrNone = 1  # on the validation part, else the evaluation set; 0 at the end alone
    histograms: bool = True  # of every weight, at each evaluation
    images: CountOrNone = 16  # samples of the first batch


class Stop(Section, frozen=True, kw_only=True):
    """Stop early: after so many evaluations without an improvement of at least `min_delta`."""

    patience: CountOrNone = 0  # 0 for never
    min_delta: NonNegative = 0.0


class Score(Section, frozen=True, kw_only=True):
    """accuracy·accuracy(%) − size·size(MB) − latency·latency(ms), and how latency is taken."""

    accuracy: float = 0.50
    size: float = 0.35
    latency: float = 0.15
    runtime: Literal["onnxruntime", "torch-eager", "torch-compiled", "mindspore", "openvino"] = "onnxruntime"
    threads: Count = 1
    warmup: CountOrNone = 5
    runs: Count = 100
    statistic: Literal["median", "mean"] = "median"  # mean is the course's


class Compress(Section, frozen=True, kw_only=True):
    """How a network is made smaller: by fewer bits and by fewer channels."""

    steps: tuple[Literal["prune", "float16", "int8"], ...] = ()  # that `luthier compress` tries, one after the other
    calibration: Count = 512  # training images that the ranges of int8's activations are taken from
    ranges: Literal["min-max", "percentile", "entropy"] = "min-max"  # of an activation: all of it, or without outliers
    exclude: tuple[Name, ...] = ()  # layers that int8 leaves in float32; `first` and `last` are two of them
    weight_bits: Literal[7, 8] = 8  # 7 for x86 processors without VNNI, whose sums of products of 8 bits overflow
    prune: Annotated[float, Meta(gt=0, lt=1)] = 0.25  # the share of every layer's channels that a pruning takes away
    prune_by: Literal["scale", "filters"] = "scale"  # the normalisation's, where there is one; or the filters' weights
    tune_epochs: Count = 5  # of training after a pruning
    tune_rate: Positive = 0.1  # of the strategy's learning rate, at which that training begins
    tune_taught: bool = False  # by the network as it was before the pruning


class Recipe(Section, frozen=True, kw_only=True):
    """Everything that a run needs to be repeated."""

    name: str = ""
    engine: Literal["auto", "torch", "mindspore"] = "auto"
    mode: Literal["eager", "graph"] = "eager"
    device: str = "auto"  # auto | cpu | cuda:0 | gpu:0 | ascend:0
    listeners: tuple[str, ...] = ()  # the user's own, as file.py:name
    data: Data = field(default_factory=Data)
    model: Model = field(default_factory=Model)
    start: Start = field(default_factory=Start)
    strategy: Strategy = field(default_factory=Strategy)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    record: Record = field(default_factory=Record)
    stop: Stop = field(default_factory=Stop)
    score: Score = field(default_factory=Score)
    compress: Compress = field(default_factory=Compress)
    space: dict[str, Range] = {}  # what `luthier tune` may change, by dotted path
