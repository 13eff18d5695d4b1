import { type ExplainFileProblem, FileProblem, readCheckedFile } from "./host/read_checked_file.ts";
import type { Host } from "./host/host.ts";

/** A PEM text that is at hand, or in a file that may change. */
export interface PemSource {
  /** Whether reading it again may give another text. */
  readonly isFile: boolean;
  /** The text, checked. Throws an error that says where it was to come from. */
  read(): Promise<string>;
  /** Makes a whole error of what is wrong with it. */
  readonly explain: ExplainFileProblem;
}

/** A PEM file, read and checked each time it is asked for. */
export function filePemSource(
  path: string,
  host: Host,
  problemOf: (pem: string) => string | undefined,
  explain: ExplainFileProblem,
): PemSource {
  const read = async (): Promise<string> => {
    try {
      return await readCheckedFile(path, host, problemOf);
    } catch (error) {
      throw error instanceof FileProblem ? explain(error) : error;
    }
  };
  return { isFile: true, read, explain };
}
