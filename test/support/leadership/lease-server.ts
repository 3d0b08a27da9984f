import type { ApiRequest } from '#kube';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** The part of an API server that keeps one Lease. */
export class LeaseServer {
  #object: KubeObject | undefined;
  #version = 0;
  readonly #listeners = new Set<() => void>();
  hasNamespace = true;
  /** Requests that it has handled: `METHOD status`. */
  readonly log: string[] = [];

  get object(): KubeObject | undefined {
    return this.#object;
  }

  get spec(): Readonly<Record<string, unknown>> {
    return (this.#object?.spec ?? {}) as Readonly<Record<string, unknown>>;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Somebody deletes it. */
  delete(): void {
    this.#store(undefined);
  }

  /** @throws KubeError */
  handle({ method, body }: Pick<ApiRequest, 'method' | 'body'>): KubeObject {
    try {
      const answer = this.#answer(method, body as KubeObject);
      this.log.push(`${method} ok`);
      return answer;
    } catch (error) {
      if (error instanceof KubeError) this.log.push(`${method} ${error.code}`);
      throw error;
    }
  }

  #answer(method: ApiRequest['method'], body: KubeObject): KubeObject {
    const found = this.#object;
    if (method === 'POST') {
      if (!this.hasNamespace) throw rejection('not-found', 404);
      if (found !== undefined) throw rejection('already-exists', 409);
      return this.#store(body);
    }
    if (found === undefined) throw rejection('not-found', 404);
    if (method === 'GET') return found;
    const { resourceVersion } = body.metadata;
    if (resourceVersion !== found.metadata.resourceVersion) throw rejection('conflict', 409);
    return this.#store(body);
  }

  #store(object: undefined): undefined;
  #store(object: KubeObject): KubeObject;
  #store(object: KubeObject | undefined): KubeObject | undefined {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    this.#object = object && { ...object, metadata: { ...object.metadata, resourceVersion } };
    for (const listener of [...this.#listeners]) listener();
    return this.#object;
  }
}

function rejection(code: 'already-exists' | 'not-found' | 'conflict', status: number): KubeError {
  return new KubeError(code, code, { status });
}
