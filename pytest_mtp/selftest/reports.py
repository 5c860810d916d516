"""Which public reports each fault imitates, by class. `repository#number`, as they stand in their trackers."""

from __future__ import annotations

from collections.abc import Mapping

_V, _L, _S, _T, _M, _O = (
    "vllm-project/vllm", "ggml-org/llama.cpp", "sgl-project/sglang", "NVIDIA/TensorRT-LLM", "Blaizzy/mlx-vlm", "ollama/ollama",
)  # fmt: skip
_A, _LM, _RM = "vllm-project/vllm-ascend", "lmstudio-ai/lmstudio-bug-tracker", "raullenchai/Rapid-MLX"

_TABLE: Mapping[str, Mapping[str, str]] = {
    "tool-args-stream": {
        "stream-only-empty-arguments": f"{_V}#9693 {_V}#55082 {_V}#48347",
        "empty-arguments": f"{_V}#9693 {_S}#37634",
        "doubled-brace": f"{_V}#48228",
        "lost-tail": f"{_V}#10781 {_V}#18108",
        "repeated-arguments": "lidge-jun/opencodex#361",
        "first-call-torn": f"{_V}#41967",
        "second-call-lost": f"{_S}#37634 {_S}#35564",
        "no-braces": f"{_T}#19227",
        "delimiters-in-arguments": f"{_V}#38946",
        "repeating-call": f"{_V}#47504",
        "first-fragment-alone": "BerriAI/litellm#20711",
        "long-calls-thinned": "NVIDIA/OpenShell#829",
        "numbers-as-text": f"{_S}#35564",
        "garbled-arguments": f"{_V}#40875",
        "single-quotes": "ml-explore/mlx-lm#607",
        "fails-after-result": f"{_L}#22072",
        "swapped-arguments": f"{_V}#40875",
    },
    "tool-drop": {
        "dropped-call": f"{_S}#37634",
        "silent-drop": f"{_T}#16377 {_LM}#942",
        "stream-drops-calls": f"{_V}#48020 {_LM}#1066 ddalcu/mlx-serve#287",
        "forced-call-lost": f"{_V}#38106",
    },
    "stream-parity": {"words-lost-beside-calls": f"{_V}#56263", "lost-first-delta": f"{_V}#30866"},
    "tool-leak": {
        "leaked-markup": f"{_LM}#1979 {_LM}#2115",
        "leaked-then-called": f"{_M}#900",
        "stream-leaks-calls": "waybarrios/vllm-mlx#107",
        "tags-in-names": f"{_A}#12398",
    },
    "tool-choice": {
        "ignored-choice": f"{_O}#17921 {_LM}#2115",
        "calls-under-none": f"{_O}#17921",
        "named-choice-ignored": f"{_V}#50477",
        "named-choice-fails": f"{_V}#40528",
    },
    "tool-index": {"zero-index": f"{_O}#15457 BerriAI/litellm#33678", "missing-index": f"{_O}#7881"},
    "tool-name": {
        "doubled-names": f"{_V}#13192",
        "names-everywhere": "weicj/vLLM-2080Ti-Definitive#127",
        "unknown-tool": f"{_A}#12398",
    },
    "reasoning-split": {
        "leaked-reasoning": f"{_V}#45687",
        "stream-thinks-aloud": f"{_V}#45687",
        "stream-loses-reasoning": f"{_V}#36632 BerriAI/litellm#20246 Nayjest/lm-proxy#69",
        "thinks-aloud-after-result": f"{_V}#39885",
        "torn-marker": f"{_V}#55195 {_V}#43221",
        "forced-calls-without-reasoning": f"{_V}#20663 {_L}#15247",
    },
    "finish-reason": {
        "finish-reason": f"{_S}#2877",
        "null-finish": f"{_V}#27572",
        "stop-for-named-calls": "MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks#177",
        "empty-reasons": f"{_O}#4357",
        "stop-at-the-cap": f"{_M}#1215",
        "singular-finish": "ml-explore/mlx-lm#782",
    },
    "empty-content": {
        "empty-reply": f"{_LM}#1602",
        "filed-as-reasoning": f"{_LM}#1602",
        "reasoning-then-error": "jjang-ai/vmlx#67",
    },
    "spec-lossless": {
        "verify-bug": "ml-explore/mlx-lm#1423 ml-explore/mlx-lm#1470",
        "verify-bug-after-long-prompts": f"jundot/omlx#2506 {_L}#23302",
        "doubled-words": "JustVugg/colibri#100",
        "late-flip": "lablup/mlxcel#1201 ml-explore/mlx-swift-lm#542",
    },
    "spec-garbage": {
        "endless-loop": f"{_V}#47087",
        "loops-in-long-turns": f"{_V}#47087",
        "crowd-word-salad": f"{_V}#46669 local-inference-lab/rtx6kpro#63",
        "crowd-exclamations": f"{_M}#2033",
        "verify-bug-in-a-crowd": f"{_V}#9441",
        "wrong-script": f"{_S}#30321",
        "wrong-value": f"{_V}#52071",
    },
    "stream-frame": {
        "stuttering-stream": f"{_T}#3753",
        "cumulative-chunks": f"{_T}#3280",
        "null-first-piece": f"{_V}#30866",
        "no-done": "BerriAI/litellm#1255",
    },
    "concurrency": {"crossed-replies": f"{_V}#14645 sgl-project/sglang-jax#1487", "unstable": f"{_S}#33397"},
    "spec-structured": {
        "schema-fails": f"{_V}#52620",
        "schema-says-nothing": f"{_V}#10442",
        "doubled-brace-json": f"{_V}#48228",
        "grammar-lets-go": f"{_V}#34241",
        "grammar-cuts": f"{_S}#18605 {_V}#15554 {_V}#10442",
        "aborted-schema": f"{_S}#25388 openvinotoolkit/openvino.genai#4081",
        "crowd-schema-fails": f"{_V}#52620",
        "schema-drafts-refused": f"{_T}#7878",
        "no-drafts-with-schema": f"{_T}#7878",
        "no-drafts-with-tools": f"{_V}#38106",
    },
    "spec-accept": {
        "dead-drafter": f"{_V}#41789 {_L}#27151 z-lab/paroquant#42 {_V}#6285",
        "weak-drafter": f"{_A}#9871 {_A}#14306 {_V}#26191 {_L}#23544",
        "accepts-only-greedy": "jundot/omlx#3370",
        "barely-accepts": f"{_V}#55605 youssofal/MTPLX#306 {_A}#12521",
        "acceptance-decays": f"{_A}#10495 {_A}#13523 {_V}#11188",
        "no-drafts-after-long-prompt": f"{_S}#6783 jundot/omlx#3742",
    },
    "spec-inactive": {
        "ignored-head": f"{_S}#35797 {_V}#35548 waybarrios/vllm-mlx#471 lmstudio-ai/mlx-engine#370 {_L}#20533 NVIDIA/Model-Optimizer#2427",
        "no-drafts-in-a-crowd": "jjang-ai/vmlx#135",
    },
    "spec-slow": {
        "slow": f"{_L}#23230 {_O}#18541",
        "slow-in-a-crowd": f"{_V}#39680 {_A}#16638 {_A}#14440",
        "slow-after-long-prompts": "intel/llm-scaler#657",
        "slow-when-sampled": f"{_RM}#1013",
        "drafts-only-greedy": f"{_RM}#1013",
    },
    "spec-metrics": {
        "miscounted-drafts": f"{_S}#11572 {_V}#56101",
        "counts-steps": f"{_V}#6669",
        "replies-hide-drafts": f"{_S}#13754",
    },
    "measurement": {"counts-chunks": "eugr/llama-benchy#11", "no-cache-hits": f"youssofal/MTPLX#246 {_V}#54360"},
    "spec-crash": {
        "die-after": f"{_S}#4188 {_S}#12659",
        "server-error": "lmstudio-ai/lms#610",
        "error-in-stream": f"{_S}#12659",
        "dies-in-a-crowd": f"{_S}#4188 {_S}#37936",
        "dies-of-length": f"{_V}#40756",
    },
    "token-budget": {"overrun": "ohdearquant/lattice#242", "cap-ignored": "ohdearquant/lattice#242"},
    "logprobs": {
        "hollow-logprobs": f"{_L}#27972",
        "wild-logprobs": f"{_V}#53488 {_V}#38711",
        "logprobs-fail": f"{_S}#17349",
        "logprobs-beyond-the-text": f"{_V}#47616",
    },
    "stop-strings": {
        "stop-ignored": f"{_S}#23802 snowflakedb/ArcticInference#161",
        "stop-taken-out": f"{_V}#49391",
        "last-stop-alone": f"{_V}#49391",
        "stop-reads-as-length": f"{_S}#31599",
        "empty-with-stop": f"{_V}#11089",
    },
    "usage": {
        "usage-mismatch": f"{_V}#8625",
        "stream-counts-more": f"{_V}#8625",
        "stream-without-usage": "TheTom/vllm-swift#19",
        "overcounted-reasoning": f"{_S}#37450",
    },
    "sampling-params": {
        "seed-ignored": f"{_V}#6038",
        "fixed-seed": f"{_T}#19487",
        "always-greedy": f"{_M}#1818",
        "top-k-ignored": f"{_V}#2754",
        "top-p-ignored": f"{_V}#9834",
        "min-p-ignored": f"{_V}#42744",
        "bias-ignored": f"{_V}#42744",
        "penalties-ignored": f"{_S}#28179 youssofal/MTPLX#120 {_T}#17701",
        "fixed-sampling": f"{_V}#9834",
    },
    "prefix-cache": {
        "warm-word-salad": "tenstorrent/vllm#415",
        "warm-exclamations": "jundot/omlx#2255",
        "warm-other-words": f"{_V}#7845 {_V}#53912 {_V}#49449 {_V}#44701 openvinotoolkit/openvino.genai#3722",
        "warm-omissions": f"{_V}#43559",
        "reads-six-tokens": "JakeATX/llamAmpere#1",
        "poisoned-after-load": f"noonghunna/club-3090#710 {_S}#27472",
    },
    "chat-template": {
        "tools-dropped": f"{_RM}#109 {_RM}#120",
        "system-dropped": f"{_RM}#109",
        "ignored-result": f"{_RM}#120",
    },
    "error-mapping": {
        "nonsense-fails": "am17an/llama.cpp#43",
        "nonsense-page": "am17an/llama.cpp#43",
        "nonsense-tears": "ml-explore/mlx-lm#607",
        "nonsense-kills": "ml-explore/mlx-lm#607",
    },
    "eos": {"never-ends": f"{_M}#2112 IBM/text-generation-inference#91", "special-tokens": f"{_M}#2112"},
    "structured": {
        "ignored-schema": f"{_O}#17183 {_V}#53975",
        "schema-not-enforced": f"{_O}#17183 {_L}#24097 {_V}#53975",
        "another-shape": f"{_L}#24097 waybarrios/vllm-mlx#538",
    },
    "unicode": {
        "replacement-characters": "turboderp-org/exllamav3#171",
        "torn-characters": f"turboderp-org/exllamav3#171 {_M}#1076",
        "mojibake": f"{_M}#1076",
    },
    "admission": {
        "lost-in-the-queue": f"{_S}#33858",
        "hang": f"{_S}#33858",
        "fails-beyond-the-limit": "llm-d/llm-d-router#2046",
        "busy": "llm-d/llm-d-router#2046",
    },
    "proxy-sse": {
        "buffered-stream": "dstackai/dstack#4269 confidential-dot-ai/c8s#140 mostlygeek/llama-swap#236",
        "one-piece-stream": "nicedreamzapp/claude-code-local#39",
        "truncated-stream": "NVIDIA/OpenShell#829",
        "cut-stream": "NVIDIA/OpenShell#829",
    },
    "disconnect": {
        "ignores-hang-up": f"{_L}#24496 {_L}#13262 ikawrakow/ik_llama.cpp#1020",
        "leaks-slots": f"{_RM}#1759",
    },
    "memory": {"grows-until-killed": f"{_L}#23446 {_S}#5375"},
    "context-overflow": {"cut-in-silence": f"{_O}#4967 {_O}#17889 {_O}#3839"},
    "n-choices": {"choices-fail": f"{_V}#6137", "choices-ignored": f"{_V}#6137", "fewer-choices": f"{_V}#6137"},
}

ROWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    name: (kind, tuple(reports.split())) for kind, rows in _TABLE.items() for name, reports in rows.items()
}
"""By fault: its class, and the reports. Faults of the surroundings (a wrong key, a page, a reset) have none."""
