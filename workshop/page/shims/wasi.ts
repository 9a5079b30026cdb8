// node:wasi in the page: the system calls of Valkey's start-up. There are no files, arguments or environment.

type Call = (...args: number[]) => number;
interface Instance {
  exports: { memory: { buffer: ArrayBuffer }; _initialize?(): void };
}

const SUCCESS = 0;
const BAD_FILE = 8;
const NOT_THERE = 52;
/** Imports that it needs but never calls. */
const absent = `fd_filestat_get fd_filestat_set_size fd_pread fd_prestat_dir_name fd_readdir fd_renumber fd_seek
  fd_sync path_create_directory path_filestat_get path_open path_rename path_unlink_file poll_oneoff sock_shutdown`.split(
  /\s+/,
);

export class WASI {
  #instance: Instance | undefined;

  wasiImport: Record<string, Call> = {
    environ_sizes_get: (count, size) => this.#write(count, 0) || this.#write(size, 0),
    environ_get: () => SUCCESS,
    fd_prestat_get: () => BAD_FILE,
    sched_yield: () => SUCCESS,
    ...Object.fromEntries(absent.map((name) => [name, () => NOT_THERE])),
    proc_exit: (code) => {
      throw new Error(`Valkey exited with code ${code}.`);
    },
  };

  #write(at = 0, value: number): number {
    new DataView((this.#instance as Instance).exports.memory.buffer).setUint32(at, value, true);
    return SUCCESS;
  }

  initialize(instance: Instance) {
    this.#instance = instance;
    instance.exports._initialize?.();
  }
}
