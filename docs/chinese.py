"""The Chinese of every sentence that the generated tables take from the program. A table of data: no logic."""

from __future__ import annotations

__all__ = ["CHINESE"]

PACKAGES = {
    "Whether two networks are the same: the parity ladder, and the first layer that differs.": (
        "两个网络是否相同：逐级比较，并指出第一个不同的层。"
    ),
    "What to change in a recipe, found by trying: a selector for a few values, a study for structure and strategy.": (
        "配方里该改什么，靠试出来：选择器挑选少数取值，研究（study）搜索结构与策略。"
    ),
    "The commands: one file each, none of which imports a framework before it runs.": (
        "命令：一个文件一条命令，运行之前都不导入框架。"
    ),
    "From a network to a file that deployments run, and to a smaller network.": (
        "从网络到可供部署运行的文件，以及更小的网络。"
    ),
    "Data sets: sources → transforms → batches.": "数据集：数据源 → 变换 → 批次。",
    "What differs between PyTorch and MindSpore, behind one Protocol.": (
        "PyTorch 与 MindSpore 的不同之处，收在同一个 Protocol 之后。"
    ),
    "What a network is worth and what it costs: accuracy, parameters, size, latency, score; and what it takes images for.": (  # noqa: E501
        "网络的价值与代价：准确率、参数量、大小、时延、得分；以及它把图像认成什么。"
    ),
    "What this machine has, what works, and how to get the rest.": "这台机器有什么，什么能用，其余的怎么得到。",
    "What to do, as typed data: read, override, check, write.": (
        "要做什么，用带类型的数据表达：读取、覆盖、检查、写出。"
    ),
    "From PyTorch or ONNX to MindSpore: sources → graph → rules → a readable script, weights, a report.": (
        "从 PyTorch 或 ONNX 到 MindSpore：来源 → 图 → 规则 → 可读的脚本、权重和报告。"
    ),
    "The only code that writes or reads a run's folder.": "唯一读写运行目录的代码。",
    "How weights are changed, as numbers and names: no framework, so that every engine sees the same.": (
        "权重如何更新，只用数字和名称表达：不依赖框架，所以各引擎看到的完全一样。"
    ),
    "Contracts as test classes: whoever adds an engine derives from one, and runs what every other engine passes.": (
        "以测试类写成的契约：新增引擎的人继承它，就会跑完其他引擎都通过的测试。"
    ),
    "The loop, its events, checkpoints and exact resume.": "训练循环、事件、检查点，以及逐位一致的续训。",
    "The two-way map between one framework's names and layouts and another's.": (
        "两个框架之间参数名称与排布的双向映射。"
    ),
    "The shipped networks, and the user's own: from a recipe's `model` to a network with its first weights.": (
        "自带的网络和用户自己的网络：从配方的 `model` 得到带初始权重的网络。"
    ),
}

RECIPE = {
    "what `luthier tune` may change, by dotted path": "`luthier tune` 可以改变什么，以点号路径书写",
    "the run's folder is named for it; by default the recipe file's name": "运行目录以它命名；默认取配方文件名",
    "`auto` takes MindSpore where an Ascend device answers, PyTorch elsewhere": (
        "`auto`：有昇腾设备响应时用 MindSpore，否则用 PyTorch"
    ),
    "`graph` compiles the step: `torch.compile`, or MindSpore's GRAPH_MODE": (
        "`graph` 会编译训练步：`torch.compile`，或 MindSpore 的 GRAPH_MODE"
    ),
    "auto | cpu | cuda:0 | gpu:0 | ascend:0": "auto | cpu | cuda:0 | gpu:0 | ascend:0",
    "the user's own, as file.py:name": "用户自己的监听器，写作 file.py:name",
    "the images": "图像",
    "the network": "网络",
    "where its first weights come from": "初始权重从哪里来",
    "a run of either engine, or a .safetensors, .ckpt, .pt or .pth file": (
        "任一引擎的运行，或 .safetensors、.ckpt、.pt、.pth 文件"
    ),
    "of a run, or the number of its step": "运行的检查点，或其步数",
    "layers that keep the seed's weights all the same": "仍然保留种子权重的层",
    "of the weights: a run writes it down, and where it stands no others are taken": (
        "权重的校验和：运行会记下它，写了它就只接受同样的权重"
    ),
    "how it learns": "怎么学",
    "what is kept": "保留什么",
    "what is recorded": "记录什么",
    "when to stop early": "何时提前停止",
    "what counts": "看重什么",
    "a source, or file.py:factory": "数据源的名称，或 file.py:factory",
    "the folder, where it is not the source's own name below the data root": (
        "数据所在目录；不写则为数据根目录下与数据源同名的目录"
    ),
    "a rank's share": "每个进程的份额",
    "of files that are not here, for measuring without them; 0: the files tell": (
        "图像文件不在本机时的类别数，供不用图像的测量；0 表示以文件为准"
    ),
    "in training; evaluation always sees every image": "只对训练有效；评估总是看完所有图像",
    "share of the training part that is held back, the same share of every class, drawn by the seed": (
        "从训练部分留出的比例，每个类别比例相同，由种子抽取"
    ),
    "see [data.normalize]": "见 [data.normalize]",
    "transforms in training, in this order": "训练时的变换，按此顺序",
    "transforms in evaluation": "评估时的变换",
    "evaluate the first so many images alone, 0 for all": "只评估前若干张图像，0 表示全部",
    "that decode image files; 0 for one a core": "解码图像文件的线程数；0 表示每核一个",
    "`minddata` is MindSpore's own, in C++": "`minddata` 是 MindSpore 自己的 C++ 流水线",
    "`skip` counts image files that cannot be read, and goes on": "`skip`：遇到读不了的图像文件，计数后继续",
    "one a channel": "每个通道一个",
    "one of the zoo's, or file.py:factory": "自带网络的名称，或 file.py:factory",
    "how convolutions and dense layers begin; `default` leaves them as PyTorch builds them": (
        "卷积层和全连接层的初始化；`default` 保留 PyTorch 构建时的值"
    ),
    "for dense layers, where it is not `init`": "全连接层与 `init` 不同时单独指定",
    "the network's own": "网络自己的选项",
    "passes over the training part": "训练部分过几遍",
    "takes the place of epochs where above 0": "大于 0 时取代 epochs",
    "the schedule's highest": "学习率策略的最高值",
    "what is taken from the true class": "从正确类别拿走的份额",
    "a run of a larger network, whose answers are learned beside the labels": (
        "较大网络的一次运行，与标签一起学习它的回答"
    ),
    "or the number of its step": "或其步数",
    "its share of the loss; the labels have the rest": "它在损失中的份额；其余归标签",
    "what both networks' outputs are divided by before they are compared": "比较之前，两个网络的输出都除以它",
    "of its weights: a run writes it down, and where it stands no others are taken": (
        "它的权重的；运行会记下它，写在这里时不接受别的权重"
    ),
    "all classes share it, as PyTorch has it, or the wrong ones": (
        "由所有类别分摊（PyTorch 的做法），或只由错误类别分摊"
    ),
    "the Beta distribution's parameter": "Beta 分布的参数",
    "the Beta distribution's parameter; with mixup too, each batch takes one of the two": (
        "Beta 分布的参数；同时用 mixup 时，每个批次取二者之一"
    ),
    "of the forward pass; weights and loss stay float32": "前向计算的精度；权重和损失保持 float32",
    "for float16 alone": "只用于 float16",
    "the gradient's greatest global norm; 0 for none": "梯度全局范数的上限；0 表示不限",
    "batches to a step": "一步用几个批次",
    "statistics over the images of all ranks": "统计量取自所有 rank 的图像",
    "the position, from 0, of the last parameter of each group": "每组最后一个参数的位置，从 0 数起",
    "exponential moving average of the weights, used for evaluation where above 0": (
        "权重的指数滑动平均，大于 0 时评估使用它"
    ),
    "first weights, order, augmentation and dropout follow from it": "初始权重、顺序、数据增强和 dropout 都由它决定",
    "see [strategy.optimizer]": "见 [strategy.optimizer]",
    "see [strategy.schedule]": "见 [strategy.schedule]",
    "length of the linear warm-up; a fraction is allowed": "线性预热的长度；可以是小数",
    "where the warm-up begins": "预热的起点",
    "0 for the last and the best alone": "0 表示只存最后一个和最好的",
    "takes the place of every_epochs where above 0": "大于 0 时取代 every_epochs",
    "the last so many; the best is kept besides": "保留最后几个；最好的另外保留",
    "loss, learning rate and speed": "损失、学习率和速度",
    "on the validation part, else the evaluation set; 0 at the end alone": (
        "在验证部分上，没有则在评估集上；0 表示只在结束时"
    ),
    "of every weight, at each evaluation": "每次评估时记录每个权重的直方图",
    "samples of the first batch": "第一个批次的样本图像数",
    "0 for never": "0 表示从不",
    "a smaller gain does not count": "小于它的提升不算数",
    "weight of a percentage point": "一个百分点的权重",
    "weight of a megabyte of 10⁶ bytes": "一 MB（10⁶ 字节）的权重",
    "weight of a millisecond": "一毫秒的权重",
    "what latency is taken in": "在什么上测时延",
    "of the runtime": "运行时的线程数",
    "runs before those that count": "计时之前的次数",
    "runs that count": "计时的次数",
    "mean is the course's": "课程用 mean",
    "how it is made smaller": "怎样把它变小",
    "training images that the ranges of int8's activations are taken from": "用来确定 int8 激活范围的训练图像数",
    "of an activation: all of it, or without outliers": "激活的范围：全部，或去掉离群值",
    "layers that int8 leaves in float32; `first` and `last` are two of them": (
        "int8 时保留为 float32 的层；`first` 与 `last` 指第一层和最后一层"
    ),
    "7 for x86 processors without VNNI, whose sums of products of 8 bits overflow": (
        "没有 VNNI 的 x86 处理器用 7：它们的 8 位乘积之和会溢出"
    ),
    "that `luthier compress` tries, one after the other": "`luthier compress` 依次尝试的步骤",
    "the share of every layer's channels that a pruning takes away": "一次剪枝从每一层去掉的通道份额",
    "the normalisation's, where there is one; or the filters' weights": "有归一化时看它的缩放系数；或看滤波器的权重",
    "of training after a pruning": "剪枝之后训练的轮数",
    "of the strategy's learning rate, at which that training begins": "占策略学习率的份额，这段训练从它开始",
    "by the network as it was before the pruning": "由剪枝之前的网络来教",
}

OPTIMIZERS = {
    "of every parameter, unless a group says otherwise": "对所有参数，除非分组另有规定",
    "whether normalisations and biases decay too": "归一化参数和偏置是否也衰减",
    "what differs for some parameters": "部分参数的不同设置",
    "a shell pattern, such as `fc.*`": "通配模式，例如 `fc.*`",
    "in place of the optimizer's": "取代优化器的值",
    "a factor on the schedule's": "乘在学习率策略之上的系数",
    "Plain steps against the gradient.": "沿负梯度直接走。",
    "v = momentum·v + g; w −= lr·v.": "v = momentum·v + g；w −= lr·v。",
    "v = momentum·v + g; w −= lr·(g + momentum·v).": "v = momentum·v + g；w −= lr·(g + momentum·v)。",
    "Adam with bias correction; its weight decay is added to the gradient.": "带偏差修正的 Adam；权重衰减加在梯度上。",
    "Adam whose weight decay shrinks the weights directly, by lr·weight_decay a step.": (
        "权重衰减直接缩小权重的 Adam，每步缩小 lr·weight_decay。"
    ),
    "AdamW's, as a factor on the schedule's": "AdamW 部分的学习率，是乘在学习率策略之上的系数",
    "AdamW's, as the next two": "AdamW 的，后两项也是",
    "Orthogonalised momentum for matrices and convolution filters; AdamW for everything else.": (
        "矩阵和卷积核用正交化的动量；其余用 AdamW。"
    ),
}

SCHEDULES = {
    "The recipe's learning rate throughout.": "始终用配方的学习率。",
    "one value an epoch": "每轮一个值",
    "i from the run's first step: a warm-up ends a little below lr.": "i 从运行的第一步数起：预热结束时略低于 lr。",
    "Half a cosine, counted from the run's first step as the course has it, or from the warm-up's end.": (
        "半个余弦，从运行的第一步数起（课程的做法），或从预热结束处数起。"
    ),
    "The square of the share of steps that is left after the warm-up.": "预热之后剩余步数比例的平方。",
    "A power of the share of steps that is left after the warm-up, down to `end`.": (
        "预热之后剩余步数比例的幂，降到 `end` 为止。"
    ),
    "i from the run's first step; a staircase takes whole powers alone.": "i 从运行的第一步数起；阶梯形只取整数次幂。",
    "Multiplied by `factor` every `every_epochs`, continuously or as a staircase.": (
        "每 `every_epochs` 轮乘以 `factor`，连续地或呈阶梯形。"
    ),
    "a milestone counted from the run's first step.": "里程碑从运行的第一步数起。",
    "Multiplied by `factor` at each of the named epochs.": "到所列的每个轮次时乘以 `factor`。",
    "Half a cosine from lr/divide up to lr, and another down to lr/divide/divide_end, reached at the last step.": (
        "先用半个余弦从 lr/divide 升到 lr，再用半个余弦降到 lr/divide/divide_end，在最后一步到达。"
    ),
    "Up from peak/`divide` during the share `rise` of the run, then down to peak/`divide`/`divide_end`, by cosines.": (
        "在运行的 `rise` 比例内从峰值/`divide` 上升，然后降到峰值/`divide`/`divide_end`，都按余弦。"
    ),
}

TRANSFORMS = {
    "Zeros around the image, then a window of the given size (by default the image's own) at random.": (
        "图像四周补零，再随机取给定大小（默认为图像自身大小）的窗口。"
    ),
    "Mirrored left to right with the given probability.": "以给定概率左右镜像。",
    "The shorter side scaled to `size`, as torchvision does; or both sides, where the shape may be stretched.": (
        "短边缩放到 `size`，与 torchvision 相同；允许拉伸时两边都缩放到 `size`。"
    ),
    "The square in the middle.": "取正中的方形。",
    "A window of random area and aspect ratio, resized to a square.": "取面积和宽高比随机的窗口，缩放成方形。",
    "A square of zeros around a random point, cut off at the image's edge.": (
        "在随机点周围置一方块零，超出图像边缘的部分截去。"
    ),
    "Brightness, contrast and saturation, each scaled by a factor from 1−strength to 1+strength.": (
        "亮度、对比度和饱和度，各乘以 1−强度 到 1+强度 之间的系数。"
    ),
}

NETWORKS = {
    "61,984 parameters on 32×32×3 and ten classes: conv, activation, pool, twice; then three dense layers.": (
        "32×32×3、十个类别时有 61,984 个参数：卷积、激活、池化，重复两次；然后是三个全连接层。"
    ),
    '`width` multiplies the channels (6, 16, 32, …) or lists them; `depth` counts the convolutions, two where `width` lists none; `pooling = "stride"` halves in the convolution; dropout stands before every dense layer.': (  # noqa: E501
        "`width` 是通道数 (6, 16, 32, …) 的倍数，或直接列出通道数；`depth` 是卷积层数，`width` 没有列出通道时为两层；"
        '`pooling = "stride"` 在卷积中减半尺寸；dropout 位于每个全连接层之前。'
    ),
    "0.38 M parameters on 32×32×3 and ten classes; `width` from 0.5 to 2.3 gives 0.1 to 2 M.": (
        "32×32×3、十个类别时有 0.38 M 个参数；`width` 从 0.5 到 2.3 对应 0.1 到 2 M。"
    ),
    "`width` multiplies the stages' channels (32, 80, 144) or lists them; `depth` counts a stage's convolutions; `residual` adds a shortcut around each of them but the first.": (  # noqa: E501
        "`width` 是各阶段通道数 (32, 80, 144) 的倍数，或直接列出通道数；`depth` 是每个阶段的卷积层数；"
        "`residual` 为除第一层外的每个卷积加一条捷径。"
    ),
    "`width` multiplies every stage's channels.": "`width` 是每个阶段通道数的倍数。",
    "Any ResNet, from its lists of four.": "任意 ResNet，由四项的列表给出。",
    "N(0, 2/fan in): fan in and a slope of 0, as both frameworks have it when nothing else is said.": (
        "N(0, 2/fan in)：按 fan in、负半轴斜率 0 计算，与两个框架的默认一致。"
    ),
    "U(−b, b) with b = √(6/fan in), which has the standard deviation of he-normal.": (
        "U(−b, b)，b = √(6/fan in)，标准差与 he-normal 相同。"
    ),
    "N(0, 0.01²) whatever the shape: MindSpore 1.0's default for convolutions and dense layers.": (
        "N(0, 0.01²)，与形状无关：MindSpore 1.0 对卷积层和全连接层的默认。"
    ),
    "N(0, 0.01²), drawn again beyond two sigmas.": "N(0, 0.01²)，超出两倍标准差则重抽。",
    "U(−b, b) with b = √(6/(fan in + fan out)).": "U(−b, b)，b = √(6/(fan in + fan out))。",
}

RESULT = {
    "the recipe's": "配方的名称",
    "how the run stands": "运行的状态",
    "that trained": "训练所用的",
    "eager or graph": "eager 或 graph",
    "taken, those before a resume included": "走过的步数，含续训之前的",
    "a fraction where the run ended within one": "在一轮之中结束时为小数",
    "percent, on the evaluation set, as the next three": "百分数，在评估集上，后三项也是",
    "evaluated": "评估的图像数",
    "trainable": "可训练的参数个数",
    "stored bytes of the trainable parameters, in 10⁶": "可训练参数的存储字节数，以 10⁶ 计",
    "of the exported file": "导出文件的大小",
    "of one image": "一张图像的时延",
    "how it was taken": "时延是怎么测的",
    "by the recipe's weights": "按配方的权重计算",
    "of all processes of the run together, evaluation included": "该运行所有进程合计，含评估",
    "steady, of all ranks together": "稳定后的速度，所有进程合计",
    "percent, on the part held back from training": "百分数，在从训练部分留出的验证部分上",
    "by the validation part, or by the training loss where there is none": "按验证部分评判，没有则按训练损失",
    "that could not be read, where the recipe allows it": "读不了而跳过的图像数（配方允许时）",
    "why the run stopped or failed": "运行停止或失败的原因",
    "that ran the network": "运行网络所用的",
    "of the runtime, within one operator": "运行时在一个算子内的线程数",
    "images at once": "一次几张图像",
    "of those": "对这些次数取的统计量",
}

EVENTS = {
    "Before the first step of this process, with the step it goes on from.": "本进程第一步之前，带着从哪一步继续。",
    "Epochs count from 1, as people do.": "轮次从 1 数起，和人一样。",
    "Steps count from 1 too: step n has ended once n updates were made.": (
        "步数也从 1 数起：完成 n 次更新，第 n 步就结束了。"
    ),
    "The loss is lazy: reading it at every step makes a device wait.": "损失是惰性的：每一步都读它，设备就得等。",
    "On the validation part, or where there is none on the evaluation set, to be shown and never to choose by.": (
        "在验证部分上；没有则在评估集上，只供显示，从不用来选择。"
    ),
    "After its evaluation, with the epoch's mean training loss.": "该轮评估之后，带着该轮的平均训练损失。",
    "It is on disk, whole.": "检查点已完整写入磁盘。",
    "After the last step of this process, whatever the reason.": "本进程最后一步之后，不论什么原因。",
    "Each has the training it tells of: its session, its data, its position, and `stop`.": (
        "每个事件都带着它所说的训练 `training`：其会话、数据、位置，以及 `stop`。"
    ),
}

CHINESE: dict[str, str] = {
    **PACKAGES,
    **RECIPE,
    **OPTIMIZERS,
    **SCHEDULES,
    **TRANSFORMS,
    **NETWORKS,
    **RESULT,
    **EVENTS,
}
