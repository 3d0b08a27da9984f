import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const inPackage = /^(?<folder>(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const legalFile = /^(licen[cs]e|notice|copying)/i;

/** The licences of all packages of which a build holds a part, from esbuild's metafile. Throws when a package has none. */
export function thirdPartyNotices({ outputs }) {
  const folders = new Set(
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .flatMap(([path]) => inPackage.exec(path)?.groups.folder ?? []),
    ),
  );
  const notices = [...folders].map(noticeOf).sort();
  const headed = [
    'Homeostat contains parts of these packages, under the licenses below.\n\nThe schemas and descriptions of built-in kinds are those of Kubernetes (https://kubernetes.io), Apache-2.0.\n',
    ...new Set(notices),
  ];
  return headed.join(`\n${'-'.repeat(80)}\n\n`);
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => legalFile.test(file))
    .map((file) => join(folder, file))
    .map((path) => readFileSync(path, 'utf8').trim());
  if (texts.length === 0)
    throw new Error(`${name} ${version} comes without the text of its license`);
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
