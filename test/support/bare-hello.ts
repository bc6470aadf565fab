/** The least that serves: what an idle server's memory and start are compared with. */
export const BARE_HELLO = `
  const server = require('node:http').createServer((_, response) => response.end('hello'));
  server.listen(0, '127.0.0.1', () => {
    console.log('http://127.0.0.1:' + server.address().port);
  });
  process.on('SIGTERM', () => process.exit(0));
`;
