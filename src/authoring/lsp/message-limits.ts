import { Transform } from 'node:stream';

/** Of the text of one message. A document may be sent as a whole, with escapes. */
const maxMessageBytes = 256 * 2 ** 20;
const maxHeaderBytes = 8_192;

/** Hands messages on as they are, and fails at one that the library of the protocol would wait for, or store, without an end. */
export class MessageLimits extends Transform {
  /** Bytes of the message that are still to come. 0: a header comes. */
  #left = 0;
  #header = '';

  override _transform(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    try {
      for (let at = 0; at < chunk.length; ) at += this.#take(chunk.subarray(at));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.push(chunk);
    done();
  }

  /** @returns the number of bytes that belong to the current header or message. @throws Error */
  #take(bytes: Buffer): number {
    if (this.#left > 0) {
      const taken = Math.min(this.#left, bytes.length);
      this.#left -= taken;
      return taken;
    }
    const known = this.#header.length;
    this.#header += bytes.subarray(0, maxHeaderBytes + 1 - known).toString('latin1');
    const end = this.#header.indexOf('\r\n\r\n');
    if (end < 0) {
      if (this.#header.length > maxHeaderBytes)
        throw new Error(`Expected the end of a header within ${maxHeaderBytes} bytes`);
      return bytes.length;
    }
    this.#left = lengthIn(this.#header.slice(0, end));
    this.#header = '';
    return end + 4 - known;
  }
}

/** @throws Error */
function lengthIn(header: string): number {
  const [, text] = /^content-length:[ \t]*(.*?)[ \t]*$/im.exec(header) ?? [];
  if (text === undefined) throw new Error('Header must provide a Content-Length property');
  const length = Number(text);
  if (!/^\d+$/.test(text) || length < 1 || length > maxMessageBytes)
    throw new Error(
      `Expected a Content-Length from 1 to ${maxMessageBytes}, found "${text.slice(0, 40)}"`,
    );
  return length;
}
