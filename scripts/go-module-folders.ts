import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { searchBinaries } from '../test/support/control-plane/index.ts';

const moduleFolder = fileURLToPath(
  new URL('../test/support/control-plane/go-modules/kubernetes', import.meta.url),
);

/** The folders of Go modules, in the versions that the control plane is built from. */
export function goModuleFolders(modules: readonly string[]): readonly string[] {
  const { go } = searchBinaries();
  if (go === undefined) throw new Error('Expected Go, which has the modules of the API types');
  const answer = execFileSync(go, ['list', '-m', '-f', '{{.Dir}}', ...modules], {
    cwd: moduleFolder,
    encoding: 'utf8',
    env: { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod' },
  });
  return answer.trim().split('\n');
}
