"""Parameters of a launch: each mistake has one message."""

from __future__ import annotations

import pytest

from pytest_mtp.core.errors import UsageError
from pytest_mtp.servers import launch as launching
from pytest_mtp.servers.demo.plan import plan
from pytest_mtp.servers.launch import launch


@pytest.mark.parametrize(
    ("server", "params", "says"),
    [
        pytest.param("demo", {"dept": 3}, r"no parameter 'dept' \(did you mean 'depth'\?\); it has speculation, depth", id="unknown"),
        pytest.param("demo", {"depth": 0}, "'depth' of the demo server: expected a whole number from 1 to 8, got 0", id="too-small"),
        pytest.param("demo", {"depth": True}, "expected a whole number", id="bool"),
        pytest.param("demo", {"depth": "3"}, "expected a whole number from 1 to 8, got '3'", id="text"),
        pytest.param("demo", {"speculation": "on"}, "expected true or false, got 'on'", id="flag"),
        pytest.param("demo", {"synth_rates": [0.5, 1.5]}, "expected a list of rates from 0 to 1", id="rate"),
        pytest.param("demo", {"synth_rates": "half"}, "expected a list of rates from 0 to 1, got 'half'", id="no-list"),
        pytest.param("demo", {"synth_rates": [0.5, 0.5], "depth": 1}, "2 rates for a depth of 1", id="more-rates-than-depth"),
        pytest.param("demo", {"port": 70000}, "from 1 to 65535", id="port"),
        pytest.param("fake", {"fault": ["x"]}, "did you mean 'faults'", id="fake-unknown"),
        pytest.param("fake", {"faults": {"x": 1}}, "expected a list of names, got {'x': 1}", id="fake-mapping"),
        pytest.param("fake", {"faults": [1]}, "expected a list of names", id="fake-number"),
        pytest.param("fake", {"alias": ""}, "expected a name", id="fake-alias"),
        pytest.param("fake", {"token_delay_ms": -1}, "expected a number that is not negative", id="fake-negative"),
        pytest.param("fake", {"seed": "one"}, "expected a number", id="fake-seed"),
    ],
)
def test_a_wrong_parameter_is_named_before_any_work_is_done(tmp_path, monkeypatch, server, params, says):
    monkeypatch.setattr("pytest_mtp.servers.demo.plan.assemble", lambda: pytest.fail("assembled the model first"))
    with pytest.raises(UsageError, match=says):
        launch(server, run_dir=tmp_path, params=params, timeout_s=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("faults", ["wrong-value", ["wrong-value"]], ids=["single", "list"])
def test_a_single_name_is_a_list_of_one(faults):
    command = launching._PLANNERS["fake"]({"faults": faults, "speculation": False, "seed": 7}).command(1, "a")
    assert command[1:3] == ["-m", "pytest_mtp.selftest.fake"]
    assert command[3:] == ["--port", "1", "--alias", "a", "--speculation", "off", "--fault", "wrong-value", "--seed", "7"]


def test_an_unknown_server_gets_the_nearest_word_and_a_way_out(tmp_path):
    with pytest.raises(UsageError, match=r"'dmeo' \(did you mean 'demo'\?\); built in are demo, fake, and launch profiles"):
        launch("dmeo", run_dir=tmp_path, timeout_s=1)


def test_missing_extras_are_one_line(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in ("gguf", "xllamacpp") else object())
    with pytest.raises(UsageError, match=r"^the demo needs gguf, xllamacpp: pip install 'pytest-mtp\[demo\]'$"):
        plan({})
