import { fileReason, readRegularFile } from '#files';
import { CliError } from './exit-code.ts';

const minLength = 16;

/**
 * Reads a token from its file. The file may change: a Secret that is mounted is updated.
 * @throws CliError for a missing file or a short token
 */
export async function readRecordsToken(path: string): Promise<string> {
  const hint = 'Write a random text into it: openssl rand -hex 16';
  let text: string;
  try {
    text = (await readRegularFile(path)).trim();
  } catch (cause) {
    const reason = fileReason(cause);
    throw new CliError(`Cannot read the token in "${path}": ${reason}`, { hint, cause });
  }
  if (text.length >= minLength && !/\s/.test(text)) return text;
  throw new CliError(
    `Expected a token of at least ${minLength} characters without spaces in "${path}", found ${text.length} characters`,
    { hint },
  );
}
