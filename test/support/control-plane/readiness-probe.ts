import { readFileSync } from 'node:fs';
import { PlaneClient } from './plane-client.ts';
import type { PlaneLayout } from './server-arguments.ts';

/** Asks an API server that starts whether it is ready: `/readyz` is well and the system's namespaces are there. */
export class ReadinessProbe {
  readonly #layout: PlaneLayout;
  readonly #token: string;
  #client: PlaneClient | undefined;

  constructor(layout: PlaneLayout, token: string) {
    this.#layout = layout;
    this.#token = token;
  }

  /** Why it is not ready; undefined when it is. */
  async reasonToWait(): Promise<string | undefined> {
    try {
      const { server, certificateFile } = this.#layout;
      const caCertificate = readFileSync(certificateFile, 'utf8');
      this.#client ??= new PlaneClient({ server, token: this.#token, caCertificate });
      return (await reasonOfServer(this.#client)) ?? (await reasonOfNamespaces(this.#client));
    } catch (error) {
      // Not listening yet, or no certificate yet. The file is there a moment before the certificate is in it, and a
      // client that got hold of half of it would never trust the server: the next try reads it again.
      this.close();
      return String(error);
    }
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}

async function reasonOfServer(client: PlaneClient): Promise<string | undefined> {
  const { status, body } = await client.request({ method: 'GET', path: '/readyz?verbose' });
  return status === 200 ? undefined : `/readyz: ${status} ${String(body)}`;
}

/** The server makes them itself, but when its first try comes too early the next is a minute later. */
async function reasonOfNamespaces(client: PlaneClient): Promise<string | undefined> {
  let reason: string | undefined;
  for (const name of ['kube-system', 'default']) {
    if ((await client.get(`/api/v1/namespaces/${name}`)) !== undefined) continue;
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const { status } = await client.request({ method: 'POST', path: '/api/v1/namespaces', body });
    reason = `the namespace "${name}" was not there; its creation: ${status}`;
  }
  return reason;
}
