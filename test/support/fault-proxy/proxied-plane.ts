import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePorts } from '../control-plane/free-ports.ts';
import type { Plane } from '../control-plane/index.ts';
import { kubeconfigText } from '../control-plane/kubeconfig.ts';
import { FaultProxy, type FaultProxyOptions } from './fault-proxy.ts';

/** A fault proxy before a control plane. */
export interface ProxiedPlane {
  readonly proxy: FaultProxy;
  /** A file with a user's kubeconfig that leads through the proxy. */
  readonly kubeconfig: string;
}

/** What of a plane a proxy needs. */
export type ProxiedServer = Pick<Plane, 'server' | 'caCertificate' | 'folder' | 'token'>;

/** Starts a proxy in front of a control plane; the caller stops it. */
export async function startFaultProxy(
  plane: ProxiedServer,
  user = 'operator',
  spares?: FaultProxyOptions['spares'],
): Promise<ProxiedPlane> {
  const { server, caCertificate } = plane;
  const [port = 0] = await findFreePorts(1);
  const tls = serverCertificate('first');
  const proxy = await FaultProxy.start({ server, caCertificate, port, tls, spares });
  const kubeconfig = join(plane.folder, `${user}.proxied.kubeconfig`);
  const text = kubeconfigText({
    server: proxy.url,
    caCertificate: authorityCertificate('first'),
    token: plane.token(user),
  });
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  return { proxy, kubeconfig };
}

/** Key and certificate of a server on loopback, by one of two authorities. A proxy has the first. */
export function serverCertificate(authority: 'first' | 'second') {
  return { key: fixture(`${authority}-server.key`), cert: fixture(`${authority}-server.crt`) };
}

/** PEM text of an authority. */
export function authorityCertificate(authority: 'first' | 'second'): string {
  return fixture(`${authority}-ca.crt`);
}

function fixture(name: string): string {
  return readFileSync(
    fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url)),
    'utf8',
  );
}
