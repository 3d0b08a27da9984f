import { isJsonObject, type Json } from '#util/json.ts';
import type { Backend } from '../../support/backends/index.ts';
import { Normaliser } from '../driver/normaliser.ts';
import type { RandomWrite } from './random-writes.ts';

/** Writes to one object of one server and remembers its version. */
export class ObjectWriter {
  readonly #backend: Backend;
  readonly #path: string;
  readonly #normaliser = new Normaliser();
  #version = '1';

  constructor(backend: Backend, path: string) {
    this.#backend = backend;
    this.#path = path;
  }

  async write({ method, tail, contentType, body, isVersioned }: RandomWrite) {
    const metadata = isJsonObject(body.metadata) ? body.metadata : {};
    const versioned = { ...body, metadata: { ...metadata, resourceVersion: this.#version } };
    const answer = await this.#backend.request({
      method,
      path: this.#path + tail,
      headers: { 'content-type': contentType, 'user-agent': 'random' },
      body: JSON.stringify(isVersioned ? versioned : body),
    });
    const parsed: Json = JSON.parse(answer.text);
    const written = isJsonObject(parsed) && isJsonObject(parsed.metadata) ? parsed.metadata : {};
    if (typeof written.resourceVersion === 'string') this.#version = written.resourceVersion;
    return { status: answer.status, body: this.#normaliser.normalise(parsed) };
  }
}
