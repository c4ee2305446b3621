// The page at /docs shows the document, offline and read-only. It has no field for a key: a key does not belong into a browser.

/** Lets the page load from the service alone. The icons of the style sheet are `data:` images. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="color-scheme" content="light dark">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Millwright API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="document"></div>
    <noscript>This page needs JavaScript; <a href="/openapi.json">the document</a> does not.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`;

/**
 * Nothing can be sent from the page: no operation has a button for it, and what would take a key is not drawn. Beside each
 * operation stand the scopes that a key of a service needs. The colours follow the reader's system.
 */
export const DOCS_SCRIPT = `const nothing = () => () => null;
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

const scopesOf = (security) => {
  const services = security.map((one) => one.serviceId).filter((scopes) => scopes !== undefined);
  return services.length > 1 ? 'any scope' : services.flat().join(', ');
};
const withScopes = (Summary, { React }) => (props) => {
  const { operationProps } = props;
  const scopes = scopesOf(operationProps.get('security')?.toJS() ?? []);
  // The first is of an operation that was opened before.
  const summary = operationProps.getIn(['op', 'summary']) ?? operationProps.get('summary');
  const said = scopes === '' ? summary : summary + ' (' + scopes + ')';
  return React.createElement(Summary, { ...props, operationProps: operationProps.setIn(['op', 'summary'], said) });
};

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#document',
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  supportedSubmitMethods: [],
  validatorUrl: null,
  showExtensions: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  plugins: [
    {
      wrapComponents: {
        OperationSummary: withScopes,
        authorizeBtn: nothing,
        AuthorizeBtnContainer: nothing,
        authorizeOperationBtn: nothing,
        TryItOutButton: nothing,
      },
    },
  ],
});
`;
