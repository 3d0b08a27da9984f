import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '#util/kube-object.ts';

/** Changes an object, which has the desired `apiVersion` already. */
export type Converter = (object: KubeObject) => KubeObject;

/** A request to a webhook. */
export interface ConversionCall {
  readonly path: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeObject[];
}

/** The objects in the desired version; a text: why they cannot be converted; undefined: the path is not served. */
export type Answerer = (
  call: ConversionCall,
) => Promise<readonly unknown[] | string | undefined> | readonly unknown[];

interface Review {
  readonly apiVersion: string;
  readonly request: ConversionCall & { readonly uid: string };
}

/** A conversion webhook on loopback, which can be stopped and started again on its port. */
export class ConversionWebhook {
  readonly #answerer: Answerer;
  #server: Server | undefined;
  #port = 0;
  #calls = 0;

  constructor(answerer: Answerer) {
    this.#answerer = answerer;
  }

  /** One that converts each object by itself. */
  static of(convert: Converter): ConversionWebhook {
    return new ConversionWebhook(({ desiredAPIVersion, objects }) =>
      objects.map((object) => convert({ ...object, apiVersion: desiredAPIVersion })),
    );
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}/convert`;
  }

  /** The certificates that verify it, as a CRD has them. */
  get caBundle(): string {
    return Buffer.from(fixture('first-ca.crt')).toString('base64');
  }

  /** How often the server has called it. */
  get calls(): number {
    return this.#calls;
  }

  async start(): Promise<void> {
    const tls = { key: fixture('first-server.key'), cert: fixture('first-server.crt') };
    this.#server = createServer(tls, async (request, response) => {
      this.#calls += 1;
      try {
        const review: Review = JSON.parse(await text(request));
        const answer = await this.#answer(review, request.url ?? '');
        response.setHeader('content-type', 'application/json');
        response.statusCode = answer === undefined ? 404 : 200;
        response.end(JSON.stringify(answer));
      } catch {
        // The test has ended meanwhile, and with it the server that was asked for the rules.
        response.destroy();
      }
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
    this.#server = undefined;
  }

  async #answer({ apiVersion, request: { uid, ...call } }: Review, path: string) {
    const converted = await this.#answerer({ ...call, path });
    if (converted === undefined) return undefined;
    const result =
      typeof converted === 'string'
        ? { result: { status: 'Failure', message: converted } }
        : { result: { status: 'Success' }, convertedObjects: converted };
    return { apiVersion, kind: 'ConversionReview', response: { uid, ...result } };
  }
}

function fixture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8');
}
