"""ONNX's own node tests against ports of them: a sample of every family, and slowly all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from benchmarks.onnx_nodes import PASS, RECORD, cases, outcome

SAMPLE = """
abs add_bcast and_bcast3v1d argmax_keepdims_random averagepool_2d_pads_count_include_pad averagepool_3d_default
basic_conv_with_padding batchnorm_example bitshift_left_uint8 cast_FLOAT_to_FLOAT16 clip_example compress_0
concat_2d_axis_0 constantofshape_float_ones conv_with_strides_and_asymmetric_padding convtranspose_autopad_same
cumsum_2d_axis_1 depthtospace_crd_mode_example dequantizelinear_axis dft div_int32_trunc dropout_default
einsum_batch_matmul elu_example expand_dim_changed gather_negative_indices gathernd_example_float32 gelu_tanh_1
gemm_all_attributes gru_seq_length hardmax_axis_1 instancenorm_example isinf_negative layer_normalization_2d_axis1
lrn_default lstm_with_peepholes matmul_3d max_example maxpool_2d_ceil mod_mixed_sign_int32 nonzero_example
onehot_with_negative_axis reflect_pad pow_types_int32_float32 prelu_broadcast
qlinearmatmul_2D_uint8_float32
quantizelinear reduce_log_sum_exp_keepdims_random reduce_sum_empty_set resize_downsample_scales_cubic
resize_upsample_sizes_nearest_ceil_half_pixel reversesequence_time rnn_seq_length roialign_aligned_true
scatter_elements_with_reduction_max scatternd_add slice_neg_steps softmax_axis_0 split_variable_parts_2d_opset18
squeeze_negative_axes top_k_smallest transpose_all_permutations_3 tril_neg unique_sorted_with_axis unsqueeze_two_axes
where_example
""".split()  # noqa: SIM905


@cache
def known() -> Mapping[str, Any]:
    return {str(case.name): case for case in cases()}


@cache
def recorded() -> Mapping[str, str]:
    return {name: told for name, (_, told) in json.loads(RECORD.read_text("utf-8"))["cases"].items()}


@pytest.mark.parametrize("name", [f"test_{name}" for name in SAMPLE])
def test_a_case_of_each_family_passes(name: str) -> None:
    if name not in known():
        pytest.skip(f"the installed onnx has no {name}")
    assert outcome(known()[name]) == PASS


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_case_that_passed_when_it_was_recorded_passes() -> None:
    found = {name: outcome(case) for name, case in known().items() if recorded().get(name) == PASS}
    assert {name: told for name, told in found.items() if told != PASS} == {}


@pytest.mark.slow
def test_some_pass_in_graph_mode_too() -> None:
    names = [
        f"test_{name}" for name in ("abs", "basic_conv_with_padding", "softmax_axis_0", "matmul_3d", "gelu_tanh_1")
    ]
    assert {name: outcome(known()[name], mode="graph") for name in names} == dict.fromkeys(names, PASS)


class TestTheRecord:
    def test_it_is_of_the_tests_of_the_onnx_that_it_names(self) -> None:
        import onnx

        record = json.loads(RECORD.read_text("utf-8"))
        if record["onnx"] != onnx.__version__:
            pytest.skip(f"recorded with onnx {record['onnx']}")
        assert set(record["cases"]) == set(known())

    def test_more_pass_than_ever_did_in_another_framework(self) -> None:
        assert sum(told == PASS for told in recorded().values()) > 1296

    def test_every_failure_has_its_reason(self) -> None:
        assert all(recorded().values())
        assert not [told for told in recorded().values() if told.startswith("Luthier:")]
