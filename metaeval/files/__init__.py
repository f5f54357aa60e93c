"""Files: paths, opening, size limits, atomic writing."""

from metaeval.files.paths import (
    STANDARD_INPUT as STANDARD_INPUT,
    PathLike as PathLike,
    Sources as Sources,
    check_file_name as check_file_name,
    describe_files as describe_files,
    file_name as file_name,
    find_named_files as find_named_files,
    find_paths as find_paths,
    is_folder as is_folder,
    is_remote as is_remote,
    is_standard_input as is_standard_input,
    list_files as list_files,
    plain_path as plain_path,
    stem as stem,
)
from metaeval.files.reading import (
    BYTES_A_CELL as BYTES_A_CELL,
    LARGEST_FILE_OPTION as LARGEST_FILE_OPTION,
    check_cells as check_cells,
    check_size as check_size,
    find_largest as find_largest,
    find_most_unpacked as find_most_unpacked,
    open_once as open_once,
    open_regular as open_regular,
    read_bounded as read_bounded,
    read_bytes as read_bytes,
    read_content as read_content,
    read_lines as read_lines,
    read_text as read_text,
    remember as remember,
    stream_lines as stream_lines,
    unpack as unpack,
)
from metaeval.files.writing import (
    TEMPORARY as TEMPORARY,
    check_folder as check_folder,
    clear_leftovers as clear_leftovers,
    write_atomically as write_atomically,
    write_file as write_file,
    write_together as write_together,
)
