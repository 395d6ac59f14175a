//! What a connection has subscribed to, and its first books.

pub(crate) mod demand;
pub(crate) mod first_book;
pub(crate) mod first_books;
pub(crate) mod index;
pub(crate) mod market_subscription;
pub(crate) mod member;
pub(crate) mod repeated;
pub(crate) mod user_subscription;
