//! The HTTP server: routes, limits, one file per resource.
