import { BackendError } from '#web';
import type { RecordsClient, RecordsQuery } from '../remote-records.ts';

export interface DirectRecordsOptions {
  /** Of the health server: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** @throws Error when it cannot be read */
  readonly readToken: () => Promise<string>;
}

/** Asks a runtime at its address. */
export class DirectRecords implements RecordsClient {
  readonly #options: DirectRecordsOptions;

  constructor(options: DirectRecordsOptions) {
    this.#options = options;
  }

  async read(query: RecordsQuery, signal: AbortSignal): Promise<unknown> {
    const { url, readToken } = this.#options;
    const address = `${url.replace(/\/+$/, '')}/records?${new URLSearchParams(query)}`;
    const authorization = `Bearer ${await readToken()}`;
    let response: Response;
    try {
      response = await fetch(address, { headers: { authorization }, signal });
    } catch (cause) {
      throw new BackendError('unreachable', `The runtime does not respond at ${url}`, { cause });
    }
    if (response.ok) return response.json();
    await response.body?.cancel();
    throw new BackendError('failed', problemOf(response.status, url));
  }
}

function problemOf(status: number, url: string): string {
  switch (status) {
    case 401:
      return `The runtime at ${url} rejects the token`;
    case 404:
      return `The runtime at ${url} does not record reconciles: start it with --console-records`;
    case 503:
      return `The runtime at ${url} is not the leader`;
    default:
      return `The runtime at ${url} answered with status ${status}`;
  }
}
