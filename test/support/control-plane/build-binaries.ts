import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFolderLock } from './folder-lock.ts';
import { launch } from './supervised-process.ts';
import {
  type BinaryName,
  type KubernetesMinor,
  kubernetesVersion,
  newestMinor,
  oldestKubectlVersion,
  releaseOf,
} from './versions.ts';

export interface BuildOptions {
  /** The `go` command. */
  readonly go: string;
  /** Where the binaries go; made if it is not there. */
  readonly folder: string;
  readonly names: readonly BinaryName[];
  /** Of kube-apiserver and kube-controller-manager. */
  readonly minor: KubernetesMinor;
}

interface GoModule {
  readonly folder: string;
  readonly packages: Readonly<Partial<Record<BinaryName, string>>>;
  readonly linkerFlags: readonly string[];
}

const versionPackage = 'k8s.io/component-base/version';

/** What a program of Kubernetes says of its version. */
function flagsOf(version: string): readonly string[] {
  const [major, minor] = version.slice(1).split('.');
  return [
    `-X ${versionPackage}.gitVersion=${version}`,
    `-X ${versionPackage}.gitMajor=${major}`,
    `-X ${versionPackage}.gitMinor=${minor}`,
  ];
}

/** The servers of one minor. */
function serverModule(minor: KubernetesMinor): GoModule {
  return {
    folder: minor === newestMinor ? 'kubernetes' : `kubernetes-${minor}`,
    packages: {
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
    },
    linkerFlags: flagsOf(releaseOf(minor)),
  };
}

const otherModules: readonly GoModule[] = [
  {
    folder: 'etcd',
    packages: { etcd: 'go.etcd.io/etcd/server/v3' },
    linkerFlags: [],
  },
  {
    folder: 'kubectl',
    packages: { kubectl: 'k8s.io/kubernetes/cmd/kubectl' },
    linkerFlags: flagsOf(kubernetesVersion),
  },
  {
    folder: 'kubectl-1.29',
    packages: { 'kubectl-1.29': 'k8s.io/kubernetes/cmd/kubectl' },
    linkerFlags: flagsOf(oldestKubectlVersion),
  },
];

/**
 * Builds binaries from their Go modules and puts them into a folder, each by rename, so that a
 * binary that is there is whole. Safe when several processes want the same at once.
 */
export async function buildBinaries(options: BuildOptions): Promise<void> {
  mkdirSync(options.folder, { recursive: true });
  await withFolderLock(join(options.folder, '.lock'), async () => {
    removeLeftovers(options.folder);
    for (const module of [...otherModules, serverModule(options.minor)])
      await buildModule(module, options);
  });
}

/** What a build that was killed has left; called by the one who holds the lock. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('.build-')) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

async function buildModule(module: GoModule, { go, folder, names }: BuildOptions): Promise<void> {
  const wanted = Object.entries(module.packages).filter(
    ([name]) => names.includes(name as BinaryName) && !existsSync(join(folder, name)),
  );
  if (wanted.length === 0) return;
  const temporary = mkdtempSync(join(folder, '.build-'));
  try {
    process.stderr.write(`Building ${wanted.map(([name]) => name).join(' and ')} (once) ...\n`);
    for (const [name, path] of wanted) {
      await goBuild({
        go,
        moduleFolder: fileURLToPath(new URL(`go-modules/${module.folder}`, import.meta.url)),
        output: join(temporary, name),
        packagePath: path,
        linkerFlags: module.linkerFlags,
      });
      renameSync(join(temporary, name), join(folder, name));
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

export interface GoBuildOptions {
  readonly go: string;
  /** Folder of the `go.mod` and `go.sum`, which are used as they are. */
  readonly moduleFolder: string;
  /** The binary that is written. */
  readonly output: string;
  /** Import path or `.`. */
  readonly packagePath: string;
  readonly linkerFlags?: readonly string[];
}

/**
 * Builds one static, stripped Go program. Progress and errors go to stderr.
 * @throws Error when the build fails.
 */
export async function goBuild(options: GoBuildOptions): Promise<void> {
  const linkerFlags = ['-s', '-w', ...(options.linkerFlags ?? [])].join(' ');
  const build = await launch({
    command: options.go,
    args: [
      ...['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', linkerFlags],
      ...['-o', options.output, options.packagePath],
    ],
    cwd: options.moduleFolder,
    env: { CGO_ENABLED: '0', GOWORK: 'off' },
    keepsUsAlive: true,
  });
  const { code } = await build.ended;
  if (code !== 0) throw new Error(`go build of ${options.packagePath} failed, see above`);
}
