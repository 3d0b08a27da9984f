// Writes deploy/manifests/: the CRD, and renderings of the chart. With --check it only compares, and fails when a file is not up to
// date. Where there is no helm yet nothing is done (`node test/support/helm/main.ts` builds it): an integration test compares, too.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHelm, Helm } from '../test/support/helm/index.ts';
import { crdFile, manifestFiles, manifestText } from './deploy/manifests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'deploy/manifests');
process.chdir(root);

const crd = readFileSync(join(root, 'deploy/crds/operatordefinitions.homeostat.dev.yaml'), 'utf8');
bring(crdFile, crd);

const binary = findHelm();
if (binary === undefined) process.stderr.write('deploy/manifests is not compared: no helm here\n');
else
  for (const manifest of manifestFiles)
    bring(manifest.file, await manifestText(new Helm(binary), manifest));

function bring(name: string, text: string): void {
  const file = join(folder, name);
  if (!process.argv.includes('--check')) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${file} is not up to date: run scripts/generate-manifests.ts\n`);
    process.exitCode = 1;
  }
}
