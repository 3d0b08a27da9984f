import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ports and files of one control plane, all on loopback and below one temporary folder. */
export interface PlaneLayout {
  readonly folder: string;
  readonly server: string;
  readonly etcdUrl: string;
  readonly etcdPeerUrl: string;
  readonly apiPort: number;
  /** The certificate that kube-apiserver signs for itself at its first start. */
  readonly certificateFile: string;
  /** Undefined = no audit log. */
  readonly auditFile: string | undefined;
}

export interface PlaneUser {
  readonly name: string;
  readonly token: string;
  readonly groups: readonly string[];
}

export interface LayoutOptions {
  readonly folder: string;
  readonly ports: readonly number[];
  readonly hasAudit: boolean;
}

export function planLayout({ folder, ports, hasAudit }: LayoutOptions): PlaneLayout {
  const [etcdPort = 0, peerPort = 0, apiPort = 0] = ports;
  return {
    folder,
    server: `https://127.0.0.1:${apiPort}`,
    etcdUrl: `http://127.0.0.1:${etcdPort}`,
    etcdPeerUrl: `http://127.0.0.1:${peerPort}`,
    apiPort,
    certificateFile: join(folder, 'certificates', 'apiserver.crt'),
    auditFile: hasAudit ? join(folder, 'audit.log') : undefined,
  };
}

/** Writes what the servers read at start: service-account keys, users, audit policy. */
export function writeServerFiles(layout: PlaneLayout, users: readonly PlaneUser[]): void {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const write = (name: string, text: string | Buffer) =>
    writeFileSync(join(layout.folder, name), text, { mode: 0o600 });
  write('service-account.key', privateKey.export({ type: 'sec1', format: 'pem' }));
  write('service-account.pub', publicKey.export({ type: 'spki', format: 'pem' }));
  write('tokens.csv', users.map(tokenLine).join(''));
  write('audit-policy.json', JSON.stringify(auditPolicy));
}

function tokenLine({ name, token, groups }: PlaneUser): string {
  return `${token},${name},${name},"${groups.join(',')}"\n`;
}

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

export function etcdArguments(
  { etcdUrl, etcdPeerUrl }: PlaneLayout,
  dataFolder: string,
): readonly string[] {
  return [
    `--data-dir=${dataFolder}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${etcdPeerUrl}`,
    `--initial-advertise-peer-urls=${etcdPeerUrl}`,
    `--initial-cluster=default=${etcdPeerUrl}`,
    '--unsafe-no-fsync=true',
    '--quota-backend-bytes=4294967296',
  ];
}

/** `plugins`: admission plugins beside those that are on by default. */
export function apiServerArguments(
  layout: PlaneLayout,
  plugins: readonly string[] = [],
): readonly string[] {
  const { folder, server, etcdUrl, apiPort, auditFile } = layout;
  return [
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    `--secure-port=${apiPort}`,
    '--bind-address=127.0.0.1',
    // Without these two the server looks for an address of the host, which one without a network has not.
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    '--authorization-mode=RBAC',
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--shutdown-watch-termination-grace-period=1s',
    // No controller here makes the default service accounts that the plugin asks for.
    '--disable-admission-plugins=ServiceAccount',
    ...(plugins.length === 0 ? [] : [`--enable-admission-plugins=${plugins.join(',')}`]),
    `--service-account-issuer=${server}/`,
    `--service-account-key-file=${join(folder, 'service-account.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'service-account.key')}`,
    ...(auditFile === undefined ? [] : auditArguments(folder, auditFile)),
  ];
}

function auditArguments(folder: string, auditFile: string): readonly string[] {
  return [
    `--audit-policy-file=${join(folder, 'audit-policy.json')}`,
    `--audit-log-path=${auditFile}`,
    '--audit-log-maxsize=2000',
  ];
}

export interface ControllerManagerOptions {
  readonly kubeconfigFile: string;
  /** Controllers beside those that always run. */
  readonly controllers: readonly string[];
}

const alwaysThere = [
  'garbagecollector',
  'namespace',
  'deployment',
  'replicaset',
  'statefulset',
  'daemonset',
  'job',
  'ttl-after-finished',
];

export function controllerManagerArguments(
  { certificateFile }: PlaneLayout,
  { kubeconfigFile, controllers }: ControllerManagerOptions,
): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigFile}`,
    // What namespaces report, where a controller reports it.
    `--root-ca-file=${certificateFile}`,
    '--leader-elect=false',
    '--secure-port=0',
    `--controllers=${[...alwaysThere, ...controllers].join(',')}`,
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}
