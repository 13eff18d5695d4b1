import { type ExplainFileProblem, FileProblem, readCheckedFile } from "./host/read_checked_file.ts";
import type { Host } from "./host/host.ts";

/** A PEM text, inline or in a file that may change. */
export interface PemSource {
  /** `true` if another read may return another text. */
  readonly isFile: boolean;
  /** Returns the validated text. The error names its source. */
  read(): Promise<string>;
  /** Adds the source to a problem with the text. */
  readonly explain: ExplainFileProblem;
}

/** A PEM file, read and validated with each call of `read`. */
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
