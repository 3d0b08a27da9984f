// `node bare-webhook.ts`: a webhook that parses each review and returns its objects with another `apiVersion`: what any webhook costs here at
// least. Prints its address and its certificates.
import { ConversionWebhook } from '../../test/support/conversion-webhook.ts';

const webhook = ConversionWebhook.of((object) => object);
await webhook.start();
const { url, caBundle } = webhook;
process.stdout.write(`${JSON.stringify({ url, caBundle })}\n`);
