import { maxNamedMebibytes, UnreadableFileError, unreadableReason } from './regular-file.ts';

/**
 * The text of a stream that ends, such as standard input.
 * @param maxMebibytes @default 64
 * @throws UnreadableFileError for a stream that is larger or that is closed before its end
 */
export async function readStream(
  stream: AsyncIterable<unknown>,
  maxMebibytes = maxNamedMebibytes,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      chunks.push(bytes);
      size += bytes.length;
      const reason = unreadableReason({ isFile: () => true, size }, maxMebibytes);
      if (reason !== undefined) throw new UnreadableFileError(reason);
    }
  } catch (error) {
    if (isClosed(error)) throw new UnreadableFileError('it was closed before its end');
    throw error;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
