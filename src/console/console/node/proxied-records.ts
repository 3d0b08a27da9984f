import { recordsTokenHeader } from '#http';
import { type ApiClient, KubeError } from '#kube';
import { decodeBase64 } from '#util/base64.ts';
import { isJsonObject } from '#util/json.ts';
import { BackendError } from '#web';
import type { RecordsClient, RecordsQuery } from '../remote-records.ts';

export interface ProxiedRecordsOptions {
  readonly api: Pick<ApiClient, 'request'>;
  /** The Secret with the token, in the namespace of the runtime. */
  readonly secret: { readonly namespace: string; readonly name: string };
}

const flow = { name: 'console', priority: 'object' } as const;
/** Of the chart. */
const podSelector = 'app.kubernetes.io/name=homeostat';
const portName = 'http';
const defaultPort = 8080;

/**
 * Asks the Pods of the runtime through the API server, with the rights of the user: to read the Secret with the token, to list the Pods, and
 * `get` of `pods/proxy`. Only the leader has records.
 */
export class ProxiedRecords implements RecordsClient {
  readonly #options: ProxiedRecordsOptions;
  #token: string | undefined;
  /** Of the Pod that has answered last. */
  #path: string | undefined;

  constructor(options: ProxiedRecordsOptions) {
    this.#options = options;
  }

  async read(query: RecordsQuery, signal: AbortSignal): Promise<unknown> {
    this.#token ??= await this.#readToken(signal);
    try {
      if (this.#path !== undefined) return await this.#ask(this.#path, query, signal);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // The leader has changed, or the token.
      this.#path = undefined;
      this.#token = await this.#readToken(signal);
    }
    let problem = `No Pod with the label "${podSelector}" runs in namespace "${this.#options.secret.namespace}"`;
    for (const path of await this.#podPaths(signal)) {
      try {
        const found = await this.#ask(path, query, signal);
        this.#path = path;
        return found;
      } catch (error) {
        problem = problemOf(error);
      }
    }
    throw new BackendError('not-found', problem);
  }

  async #ask(path: string, query: RecordsQuery, signal: AbortSignal): Promise<unknown> {
    const headers = { [recordsTokenHeader]: this.#token ?? '' };
    const request = { method: 'GET', path, query, headers, flow } as const;
    return (await this.#options.api.request(request, signal)).body;
  }

  async #readToken(signal: AbortSignal): Promise<string> {
    const { namespace, name } = this.#options.secret;
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    const body = await this.#get(path, {}, signal).catch((error: unknown) => {
      if (error instanceof KubeError && error.code === 'not-found')
        throw new BackendError(
          'not-found',
          `Reconciles are not recorded: there is no Secret "${namespace}/${name}" with a token (homeostat run --console-records)`,
        );
      throw recordsError(error);
    });
    const data = isJsonObject(body) && isJsonObject(body.data) ? body.data : {};
    const token = typeof data.token === 'string' ? decodeBase64(data.token)?.trim() : undefined;
    if (token !== undefined && token !== '') return token;
    throw new BackendError('failed', `Secret "${namespace}/${name}" has no key "token"`);
  }

  async #podPaths(signal: AbortSignal): Promise<readonly string[]> {
    const base = `/api/v1/namespaces/${this.#options.secret.namespace}/pods`;
    const body = await this.#get(base, { labelSelector: podSelector }, signal).catch(
      (error: unknown) => {
        throw recordsError(error);
      },
    );
    const items = isJsonObject(body) && Array.isArray(body.items) ? body.items : [];
    return items.filter(isJsonObject).flatMap((pod) => {
      const { metadata, spec, status } = pod;
      if (!isJsonObject(metadata) || !isJsonObject(status) || status.phase !== 'Running') return [];
      return [`${base}/${String(metadata.name)}:${portOf(spec)}/proxy/records`];
    });
  }

  async #get(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<unknown> {
    return (await this.#options.api.request({ method: 'GET', path, query, flow }, signal)).body;
  }
}

/** The port of the health server. */
function portOf(spec: unknown): number {
  const containers = isJsonObject(spec) && Array.isArray(spec.containers) ? spec.containers : [];
  for (const container of containers.filter(isJsonObject)) {
    const ports = Array.isArray(container.ports) ? container.ports.filter(isJsonObject) : [];
    const found = ports.find(({ name }) => name === portName)?.containerPort;
    if (typeof found === 'number') return found;
  }
  return defaultPort;
}

function problemOf(error: unknown): string {
  if (!(error instanceof KubeError)) return String(error);
  switch (error.status) {
    case 401:
      return 'The runtime rejects the token of the Secret';
    case 404:
      return 'The runtime does not record reconciles: start it with --console-records';
    default:
      return `Records cannot be read: ${error.message}`;
  }
}

function recordsError(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  return new BackendError(
    error.status === 403 ? 'forbidden' : 'failed',
    `Records cannot be read: ${error.message}`,
    { cause: error },
  );
}
