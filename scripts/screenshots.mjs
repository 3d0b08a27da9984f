// Makes the pictures of docs/console.md: every page over the shipped operators in a sandbox, in both themes.
// `node scripts/screenshots.mjs [FOLDER [WIDTH]]`: elsewhere, to look at another width.
import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumPath } from './chromium-path.mjs';

const [target = 'docs/console', width = '1280'] = process.argv.slice(2);
const site = '#/resources/web.example.com/v1/WebApp/default/site';
const child = `${site}?node=Deployment%2Fdefault%2Fsite`;
/** Name, address, a text that is shown when it is complete, and what is done before the picture. */
const pages = [
  ['overview', '#/', 'Rejected'],
  ['resources', '#/resources', 'default/site'],
  ['clusters', '#/clusters', 'dev-3'],
  ['definition', '#/definitions/web-app', 'HorizontalPodAutoscaler'],
  ['definition-source', '#/definitions/web-app?tab=source', 'What would happen', untilPreviewed],
  ['definition-resources', '#/definitions/web-app?tab=resources', 'default/site'],
  ['definition-rollout', '#/definitions/web-app?tab=rollout', 'Conditions'],
  ['definition-rights', '#/definitions/web-app?tab=rights', 'deployments.apps'],
  ['definition-events', '#/definitions/web-app?tab=events', 'Events'],
  ['resource', child, 'spec.replicas'],
  ['resource-live', `${child}&detail=live`, 'kind: Deployment'],
  ['resource-differences', `${child}&detail=differences`, 'the next reconcile'],
  ['resource-owners', `${child}&detail=owners`, 'spec.replicas'],
  ['resource-events', `${child}&detail=events`, 'ScalingReplicaSet'],
  ['reconcile', site, 'Reconciles', selectReconcile],
  ['edit', `${site}?tab=edit`, 'What would happen', editReplicas],
  ['expressions', `${site}?tab=expressions`, 'Reads'],
  ['help', '#/', 'virtual-machine', (page) => page.keyboard.press('?')],
];

async function untilPreviewed(page) {
  await page.locator('.result[aria-busy="false"]').waitFor();
}

async function editReplicas(page) {
  await page.getByLabel(/^replicas/).fill('3');
  await page.locator('.changes li', { hasText: 'Deployment' }).first().waitFor();
}

/** The first reconcile, which created the objects. */
async function selectReconcile(page) {
  const row = page.getByRole('table', { name: 'Reconciles' }).getByRole('row').last();
  await row.getByRole('link').click();
  const detail = page.getByRole('heading', { name: /^Reconcile at/ });
  await detail.waitFor();
  await detail.evaluate((element) => element.scrollIntoView());
}

// A folder of its own: the pictures name it, and an error is written into one of its files.
const folder = mkdtempSync(join(tmpdir(), 'shop-'));
const operators = join(folder, 'operators');
cpSync('operators', operators, { recursive: true });
for (const name of ['node-agent.yaml', 'samples/node-agent.yaml'])
  cpSync(join('operators/clusters', name), join(operators, name));
writeFileSync(join(operators, 'report.yaml'), waitingDefinition());
writeFileSync(join(operators, 'samples/report.yaml'), waitingSample());
const dev = spawn(
  process.execPath,
  [
    ...[resolve('src/cli/homeostat.ts'), 'dev', operators, '--clusters', '3'],
    ...['--write-kubeconfig', join(folder, 'kubeconfig')],
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const url = await started(dev);
  appendFileSync(join(operators, 'tenant.yaml'), '  nonsense: true\n');
  mkdirSync(target, { recursive: true });
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({
      viewport: { width: Number(width), height: 800 },
      colorScheme,
    });
    const page = await context.newPage();
    for (const [name, hash, text, prepare] of pages) {
      await page.goto(url + hash);
      await page.reload();
      await page.getByText(text).first().waitFor();
      await prepare?.(page);
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(target, `${name}-${colorScheme}.png`) });
    }
    await context.close();
  }
  await browser.close();
} finally {
  dev.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

/** A definition whose resource waits for a ConfigMap. */
function waitingDefinition() {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: report }
spec:
  crd:
    group: reports.example.com
    names: { kind: Report, plural: reports }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { settings: { type: string } } }
              status: { type: object, properties: { mail: { type: string } } }
  reads:
    - { id: settings, apiVersion: v1, kind: ConfigMap, name: "\${ spec.settings }" }
  children:
    - id: mail
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-mail" }
        data: { to: "\${ reads.settings.data.mail }" }
  status: { mail: "\${ children.mail.data.to }" }
`;
}

function waitingSample() {
  return `apiVersion: reports.example.com/v1
kind: Report
metadata: { name: monthly }
spec: { settings: report-settings }
`;
}

/** The address of the console, when the samples are ready. */
function started(process_) {
  let output = '';
  return new Promise((resolve, reject) => {
    process_.once('exit', () => reject(new Error(`"homeostat dev" has ended: ${output}`)));
    process_.stdout.on('data', (chunk) => {
      output += chunk;
      const address = /(http:\S+) {2}\(console\)/.exec(output)?.[1];
      if (address !== undefined && /WebApp default\/site: Ready/.test(output)) resolve(address);
    });
  });
}
