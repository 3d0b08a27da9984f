export interface KubeconfigOptions {
  readonly server: string;
  readonly token: string;
  /** PEM text that verifies the server. */
  readonly caCertificate: string;
  /** Namespace of the context. @default 'default' */
  readonly namespace?: string;
}

/** The text of a kubeconfig with one context, as JSON, which every YAML parser reads. */
export function kubeconfigText(options: KubeconfigOptions): string {
  const { server, token, caCertificate, namespace = 'default' } = options;
  const authority = Buffer.from(caCertificate).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
