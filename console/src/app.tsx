import { QueryClientProvider } from '@tanstack/react-query';
import { Component, type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import { connection } from './api/connection.ts';
import { queryClient } from './api/queries.ts';
import { find, session } from './api/session.ts';
import { useStore } from './api/store.ts';
import { LoginPage, useSignInByLink } from './pages/login.tsx';
import { usePages } from './shell/pages.ts';
import { Shell } from './shell/shell.tsx';
import { t } from './texts/index.ts';
import { NothingHere } from './ui/nothing.tsx';
import { Button, Empty, Failure, Toasts } from './ui/ui.tsx';

const TasksPage = page(() => import('./pages/tasks/tasks-page.tsx'));
const NewTaskPage = page(() => import('./pages/new-task/new-task-page.tsx'));
const TaskPage = page(() => import('./pages/task/task-page.tsx'));
const AutomationsPage = page(() => import('./pages/automations/automations-page.tsx'));
const IntegrationsPage = page(() => import('./pages/integrations/integrations-page.tsx'));
const WebhooksPage = page(() => import('./pages/webhooks/webhooks-page.tsx'));
const UsagePage = page(() => import('./pages/usage/usage-page.tsx'));
const ProjectsPage = page(() => import('./pages/projects/projects-page.tsx'));
const SettingsPage = page(() => import('./pages/settings/settings-page.tsx'));

/** A page whose program cannot be fetched waits until the service is back; gone after an update, it is a fault that says so. */
function page<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() =>
    load().catch(async () => {
      await connection.back();
      return load();
    }),
  );
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <Boundary>
          <SignedIn />
        </Boundary>
      </Router>
      <Toasts />
    </QueryClientProvider>
  );
}

function SignedIn() {
  const state = useStore(session);
  const link = useSignInByLink();
  switch (state.is) {
    case 'unknown':
      return null;
    case 'failed':
      return (
        <Empty icon="Wifi" title={t.login.failed}>
          <Failure error={state.error} retry={() => void find()} />
        </Empty>
      );
    case 'out':
      return <LoginPage ended={state.ended} linkError={link.error} />;
    case 'in':
      // Anew for another person: nothing of what was kept is shown to them.
      return (
        <Shell key={state.context.credential.id}>
          <Pages />
        </Shell>
      );
  }
}

function Pages() {
  const [first] = usePages();
  return (
    <Suspense fallback={null}>
      <Switch>
        <Route path="/">
          <Redirect to={`/${first?.name ?? 'settings'}`} replace />
        </Route>
        <Route path="/tasks" component={TasksPage} />
        <Route path="/new" component={NewTaskPage} />
        <Route path="/tasks/:taskId">{({ taskId }) => <TaskPage key={taskId} taskId={taskId} />}</Route>
        <Route path="/automations/*?" component={AutomationsPage} />
        <Route path="/integrations/*?" component={IntegrationsPage} />
        <Route path="/webhooks/*?" component={WebhooksPage} />
        <Route path="/usage" component={UsagePage} />
        <Route path="/projects/*?" component={ProjectsPage} />
        <Route path="/settings" component={SettingsPage} />
        <Route>
          <Unknown />
        </Route>
      </Switch>
    </Suspense>
  );
}

function Unknown() {
  useEffect(() => {
    document.title = t.common.product;
  }, []);
  return <NothingHere />;
}

/** A fault of a page is said on the page. A part of the page that is gone after an update is loaded by loading the page anew. */
class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    const reload = (
      <Button look="primary" onClick={() => location.reload()}>
        {t.common.fault.reload}
      </Button>
    );
    return (
      <Empty icon="Alert" title={t.common.fault.title} actions={reload}>
        {this.state.error.message}
      </Empty>
    );
  }
}
