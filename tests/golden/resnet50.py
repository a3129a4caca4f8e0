"""ResNet, ported from nets.py:resnet50."""

from mindspore import Tensor, nn


class Bottleneck(nn.Cell):
    """1×1 down to a quarter of the channels, 3×3, 1×1 up; a stage's first halves the size in the 3×3, or after it."""

    def __init__(self, before: int, after: int, stride: int = 1) -> None:
        super().__init__()
        narrow = after // 4
        self.conv1 = nn.Conv2d(before, narrow, 1, pad_mode="valid")
        self.bn1 = nn.BatchNorm2d(narrow)
        self.conv2 = nn.Conv2d(narrow, narrow, 3, stride=stride, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(narrow)
        self.conv3 = nn.Conv2d(narrow, after, 1, pad_mode="valid")
        self.bn3 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU()
        self.downsample = nn.Identity()
        if before != after:
            self.downsample = nn.SequentialCell(
                nn.Conv2d(before, after, 1, stride=stride, pad_mode="valid"), nn.BatchNorm2d(after)
            )

    def construct(self, x_BCHW: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x_BCHW)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + self.downsample(x_BCHW))


class ResNet(nn.Cell):
    """Four stages of blocks; every list has an entry a stage, and in_channels[0] is what the stem gives."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, pad_mode="pad", padding=3)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="pad", padding=1)
        self.layer1 = nn.SequentialCell(Bottleneck(64, 256), *(Bottleneck(256, 256) for _ in range(2)))
        self.layer2 = nn.SequentialCell(Bottleneck(256, 512, stride=2), *(Bottleneck(512, 512) for _ in range(3)))
        self.layer3 = nn.SequentialCell(Bottleneck(512, 1024, stride=2), *(Bottleneck(1024, 1024) for _ in range(5)))
        self.layer4 = nn.SequentialCell(Bottleneck(1024, 2048, stride=2), *(Bottleneck(2048, 2048) for _ in range(2)))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(2048, 1000)

    def construct(self, x_BCHW: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x_BCHW))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x)))
