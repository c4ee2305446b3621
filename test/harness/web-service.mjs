// Starts the built service for which names below `.test` lead to this machine when agents read pages. All else is as it is in the product.
import { Egress } from '../../dist/platform/egress/egress.js';

const here = new Egress(['127.0.0.1/32'], (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]));
const { request } = Egress.prototype;
Egress.prototype.request = function (url, ...more) {
  return request.call(url.hostname.endsWith('.test') ? here : this, url, ...more);
};
await import('../../dist/main.js');
