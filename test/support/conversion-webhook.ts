import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '#util/kube-object.ts';

/** Changes an object, which has the desired `apiVersion` already. */
export type Converter = (object: KubeObject) => KubeObject;

interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly KubeObject[];
  };
}

/** A conversion webhook on loopback, which can be stopped and started again on its port. */
export class ConversionWebhook {
  readonly #convert: Converter;
  #server: Server | undefined;
  #port = 0;
  #calls = 0;

  constructor(convert: Converter) {
    this.#convert = convert;
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
      const review: Review = JSON.parse(await text(request));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(this.#answer(review)));
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

  #answer({ apiVersion, request: { uid, desiredAPIVersion, objects } }: Review): unknown {
    const convertedObjects = objects.map((object) =>
      this.#convert({ ...object, apiVersion: desiredAPIVersion }),
    );
    const response = { uid, convertedObjects, result: { status: 'Success' } };
    return { apiVersion, kind: 'ConversionReview', response };
  }
}

function fixture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8');
}
