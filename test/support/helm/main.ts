// `node test/support/helm/main.ts`: makes sure that helm is there, and prints where.
import { ensureHelm } from './ensure-helm.ts';

const binary = await ensureHelm();
if (binary === undefined) throw new Error('No helm: install Go, or set TEST_ASSET_HELM to it');
console.log(binary);
