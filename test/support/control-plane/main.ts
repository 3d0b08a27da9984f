// `npm run control-plane`: a control plane for the shell, until Ctrl-C. `-- --build-only` makes the binaries,
// `-- --json` prints one line for programs.
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { allBinaries, ensureBinaries } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';

const values = argumentsOrExit();

if (values['build-only']) {
  const binaries = await ensureBinaries();
  for (const name of allBinaries) console.log(binaries[name]);
} else {
  await serve();
}

/** A wrong argument is one line, and how the program is called. */
function argumentsOrExit() {
  try {
    return parseArgs({
      options: {
        'build-only': { type: 'boolean', default: false },
        'no-controller-manager': { type: 'boolean', default: false },
        audit: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(
      'Usage: npm run control-plane -- [--build-only] [--no-controller-manager] [--audit] [--json]',
    );
    process.exit(1);
  }
}

async function serve(): Promise<void> {
  const ended = untilAskedToEnd();
  const plane = await startControlPlane({
    controllerManager: !values['no-controller-manager'],
    audit: values.audit,
  });
  if (values.json) printForPrograms(plane);
  else printForPeople(plane);
  await ended;
  await plane.stop();
}

function printForPeople(plane: ControlPlane): void {
  const kubeconfig = plane.kubeconfigPath();
  console.log(`Control plane at ${plane.server}, data and logs in ${plane.folder}`);
  if (plane.auditFile !== undefined) console.log(`Audit log: ${plane.auditFile}`);
  console.log(`Kubeconfig: ${kubeconfig}`);
  console.log(`export KUBECONFIG=${kubeconfig}`);
  console.log('Ctrl-C ends it.');
}

function printForPrograms(plane: ControlPlane): void {
  const { server, folder, pids, auditFile } = plane;
  const kubeconfig = plane.kubeconfigPath();
  console.log(JSON.stringify({ server, folder, kubeconfig, pids, auditFile }));
}

/** Resolves at SIGINT or SIGTERM, and keeps the process alive until then. */
async function untilAskedToEnd(): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
}
