import type { Helm } from '../../test/support/helm/index.ts';

/** The files of deploy/manifests/, in the order in which they are applied. All but the CRD are renderings of the chart. */
export interface ManifestFile {
  readonly file: string;
  readonly about: string;
  /** Arguments of `helm template` beside the name, chart and namespace. */
  readonly args: readonly string[];
}

export const crdFile = '0-crd.yaml';

export const manifestFiles: readonly ManifestFile[] = [
  {
    file: '1-homeostat.yaml',
    about: 'Homeostat without definitions: the chart with its default values, and a namespace',
    args: ['--set', 'namespace.create=true'],
  },
  {
    file: '2-examples.yaml',
    about: 'The shipped operators and their rights; delete this file for a Homeostat of your own',
    args: ['--set', 'examples.enabled=true', '--show-only', 'templates/examples.yaml'],
  },
];

/** The text of a file. @throws Error when helm rejects */
export async function manifestText(helm: Helm, { about, args }: ManifestFile): Promise<string> {
  const place = ['homeostat', 'deploy/chart', '--namespace', 'homeostat-system'];
  const text = await helm.template(...place, ...args);
  const rendered = text
    .replace(/^# Source: .*\n/gm, '')
    .replace(/\n{2,}---/g, '\n---')
    .trim();
  return `# ${about}.\n# Generated from deploy/chart by \`npm run generate\`; do not edit.\n${rendered}\n`;
}
