import { decodeBase64Bytes, encodeBase64Bytes } from '#util/base64.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { ManifestText } from '#web';

/** A link that cannot be opened, or files that do not fit in one. The message is for people. */
export class ShareLinkError extends HomeostatError<'broken' | 'too-long'> {}

const prefix = '#/share/1/';
/** Longer links do not work everywhere: chats and mail cut them. */
const maxLinkLength = 16_000;
/** What a link may decompress to, in bytes of UTF-8. */
const maxTextBytes = 256 * 1024;
const maxFiles = 20;
const fileName = /^(?:samples\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,100}\.(?:ya?ml|json)$/;

/** Whether the fragment of an address contains files. */
export function isShareLink(fragment: string): boolean {
  return fragment.startsWith('#/share/');
}

/**
 * The fragment with these files, compressed.
 * @throws ShareLinkError `too-long`
 */
export async function encodeShareLink(files: readonly ManifestText[]): Promise<string> {
  const text = JSON.stringify(files.map((each) => [each.file, each.text]));
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > maxTextBytes) throw tooLong(`${bytes.length} bytes`, `${maxTextBytes}`);
  const packed = await wholeOf(through(bytes, new CompressionStream('deflate-raw')));
  const link = prefix + toUrlText(encodeBase64Bytes(packed));
  if (link.length > maxLinkLength) throw tooLong(`${link.length} characters`, `${maxLinkLength}`);
  return link;
}

/**
 * The files in the fragment of an address. Only texts with names: nothing of them runs here.
 * @throws ShareLinkError `broken`
 */
export async function decodeShareLink(fragment: string): Promise<readonly ManifestText[]> {
  if (!fragment.startsWith(prefix))
    throw new ShareLinkError('broken', 'The link is of another version of the playground');
  let value: unknown;
  try {
    const packed = decodeBase64Bytes(fromUrlText(fragment.slice(prefix.length)));
    const stream = through(packed, new DecompressionStream('deflate-raw'));
    const bytes = await wholeOf(stream, maxTextBytes);
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    if (cause instanceof ShareLinkError) throw cause;
    throw new ShareLinkError('broken', 'The link is incomplete, or was changed', { cause });
  }
  return filesOf(value);
}

function filesOf(value: unknown): readonly ManifestText[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  if (entries.length === 0 || entries.length > maxFiles)
    throw new ShareLinkError('broken', `Expected 1 to ${maxFiles} files in the link`);
  const files = entries.map((entry) => {
    const [file, text] = Array.isArray(entry) ? entry : [];
    if (typeof file !== 'string' || typeof text !== 'string' || !fileName.test(file))
      throw new ShareLinkError('broken', 'The link contains something that is not a YAML file');
    return { file, text };
  });
  if (new Set(files.map(({ file }) => file)).size < files.length)
    throw new ShareLinkError('broken', 'The link contains two files of the same name');
  return files;
}

function tooLong(found: string, most: string): ShareLinkError {
  const message = `The files are too large for a link: it would have ${found}, and may have ${most}. Save them as files, see "Open in dev"`;
  return new ShareLinkError('too-long', message);
}

type ByteTransform = ReadableWritablePair<Uint8Array, BufferSource>;

function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: ByteTransform,
): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream().pipeThrough(transform);
}

/** Stops at the limit: a short link may decompress to gigabytes. */
async function wholeOf(
  stream: ReadableStream<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes)
      throw new ShareLinkError('broken', `The link contains more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function toUrlText(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromUrlText(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}
