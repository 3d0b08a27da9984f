import type { IncomingMessage } from 'node:http';

/**
 * The API server accepts objects of 3 MiB, and converts a list in one request only where it has all of it in its memory. So this is ten such
 * objects, and more than any list of one page.
 */
export const maxBodyBytes = 32 * 1024 * 1024;

/** The body as text. Undefined: it is larger than {@link maxBodyBytes}. @throws Error when the connection breaks */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // What follows is received and dropped, so that the client reads the response.
    if (bytes <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes > maxBodyBytes ? undefined : Buffer.concat(chunks, bytes).toString('utf8');
}
