// Holds our presets against the libraries that senders give out themselves, both ways.
import { testWithLibraries } from './libraries.mjs';

testWithLibraries([
  'stripe', '@octokit/webhooks-methods', 'standardwebhooks', 'svix', 'twilio', 'square',
  '@slack/bolt', '@sendgrid/eventwebhook', 'discord-interactions', '@linear/sdk', 'cloudevents',
  '@shopify/shopify-api',
], 'test/webhooks/senders/libraries.test.ts', 'SENDERS_FOLDER');
