import { printYaml } from '../definition/index.ts';

/** A kubeconfig for a server that asks for no credentials: whoever knows its address may do everything. */
export function kubeconfigText(server: string): string {
  const name = 'homeostat-dev';
  return printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  });
}

/** Is that one of {@link kubeconfigText}, for whatever server? Pure. */
export function isDevKubeconfig(text: string): boolean {
  const [, server] = /^ *(?:- )?server: (\S+)$/m.exec(text) ?? [];
  return server !== undefined && kubeconfigText(server) === text;
}
