// Runs before the first paint, so that a chosen theme never flashes.
try {
  const theme = localStorage.getItem("foretell.theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // The system's theme, then.
}
