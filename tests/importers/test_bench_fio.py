"""bench-fio's trees, laid out as version 1.1 of fio-plot really lays them out."""

from pathlib import Path

from foreign_results import fio_document, write_json

from leadline.importers import import_paths


def test_a_tree_is_one_experiment_a_target(tmp_path: Path) -> None:
    for depth in (1, 2):
        options = {"rw": "randread", "iodepth": str(depth), "numjobs": "2", "filename": "/mnt/a/file"}
        write_json(tmp_path / f"nvme/4k/randread-{depth}-2.json", fio_document(options, jobname="FIOJOB"))
    manifest, records = import_paths([tmp_path])
    assert manifest.campaign["imported"] == {"bench-fio tree": 2}
    assert [(record.experiment, record.cell["iodepth"]) for record in records] == [("nvme", 1), ("nvme", 2)]


def test_names_fill_in_what_the_json_lacks(tmp_path: Path) -> None:
    document = fio_document(jobname="FIOJOB")
    document["jobs"][0]["job options"] = {"ioengine": "io_uring"}
    write_json(tmp_path / "nvme/randrw75/64k/randrw-16-4.json", document)
    _, (record,) = import_paths([tmp_path])
    wanted = {"rw": "randrw", "block_size": 65536, "iodepth": 16, "numjobs": 4, "read_percentage": 75}
    assert wanted.items() <= record.cell.items()
    assert (record.experiment, record.cell["ioengine"]) == ("nvme", "io_uring")


def test_the_json_is_believed_before_the_names(tmp_path: Path) -> None:
    write_json(tmp_path / "nvme/4k/randread-99-1.json", fio_document({"iodepth": "8"}))
    _, (record,) = import_paths([tmp_path])
    assert record.cell["iodepth"] == 8


def test_its_empty_logs_are_not_mentioned(tmp_path: Path) -> None:
    write_json(tmp_path / "nvme/4k/randread-1-1.json", fio_document())
    (tmp_path / "nvme/4k/randread-iodepth-1-numjobs-1_bw.1.log").write_text("")
    (tmp_path / "nvme/4k/randread-iodepth-1-numjobs-1_lat.1.log").write_text("9, 25000, 0, 4096, 0\n")
    assert import_paths([tmp_path])[0].campaign["left_out"] == []
