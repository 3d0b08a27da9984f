import { fileReason, readRegularFile } from '#files';
import { KubeConfigError } from './cluster-config.ts';

/** Maximum size of a kubeconfig, and of a file that one names. */
const maxMebibytes = 16;

/**
 * The text of a kubeconfig or of a file that one names. Such files are read again for each connection, to detect changes, so a pipe cannot be
 * one.
 * @param what the file in messages: `kubeconfig`, `token file`
 * @throws KubeConfigError for a file that cannot be read
 */
export async function readCredentialFile(what: string, path: string): Promise<string> {
  try {
    return await readRegularFile(path, maxMebibytes);
  } catch (error) {
    const message = `Cannot read the ${what} "${path}": ${fileReason(error)}`;
    throw new KubeConfigError('not-found', message, { cause: error });
  }
}

/** Like {@link readCredentialFile}. Undefined: there is no such file. */
export async function readCredentialFileIfThere(
  what: string,
  path: string,
): Promise<string | undefined> {
  try {
    return await readCredentialFile(what, path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}
